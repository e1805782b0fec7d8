"""Hooks of MkDocs: pages of the repository's top folder, pages of the API, and links between them.

The reference of the API is made from the names that each public module lists in ``__all__``: a page a module. The pages
of the top folder (README.md and others) are part of the site, too. Links are written as they work in the repository;
a link to a file that is no page of the site becomes plain code.
"""

from __future__ import annotations

import importlib
import inspect
import posixpath
import re
from pathlib import Path
from typing import Any

from drawings import pictures  # MkDocs looks for modules in the folder of the hook
from mkdocs.structure.files import File, Files
from tables import with_tables

ROOT = Path(__file__).resolve().parents[2]
TOP = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
MODULES = {
    "zarr": "Create, open, read, write and copy arrays and groups.",
    "zarr.tools": "Tools for whole arrays and hierarchies.",
    "zarr.storage": "Stores: where chunks and metadata lie.",
    "zarr.codecs": "Codecs of format 3.",
    "zarr.codecs.numcodecs": "Codecs of numcodecs, for format 3.",
    "zarr.dtype": "Data types: how elements are stored.",
    "zarr.errors": "Errors and warnings.",
    "zarr.buffer": "Buffers: the memory that stores and codecs pass on.",
    "zarr.registry": "Register codecs, stores, data types and buffers of your own.",
    "zarr.chunks": "Chunk grids: how an array is cut into chunks.",
    "zarr.metadata": "Metadata documents as objects.",
    "zarr.models": "The structure of a hierarchy as typed values: JSON, schemas, comparison, creation.",
    "zarr.serving": "A store over HTTP, and the page that shows it.",
    "zarr.h5py_compat": "The names of h5py, over the stores of this library.",
    "zarr.array_api": "The array API standard, with stored arrays.",
    "zarr.abc.store": "The interface of a store.",
    "zarr.abc.codec": "The interface of a codec.",
    "zarr.api.asynchronous": "The functions of `zarr` as coroutines.",
    "zarr.experimental": "Names whose meaning may still change.",
    "zarr.testing.store": "Tests for stores and programs of your own.",
}
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def page_of(module: str) -> str:
    """Return the place of the page of a module in the site."""
    return f"reference/api/{module}.md"


def public_names(module: str) -> list[str]:
    """Return the names that a module offers, objects with a docstring of their own only."""
    found = importlib.import_module(module)
    names = [name for name in found.__all__ if not name.startswith("_")]
    objects = {name: getattr(found, name) for name in names}
    return [name for name in names if inspect.isclass(objects[name]) or inspect.isroutine(objects[name])]


def first_line(found: Any) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(found) or "").split("\n", 1)[0]


def entry_of(module: str, name: str) -> str:
    """Return the entry of a name; an interface that has no objects of its own is described by its text alone."""
    found = getattr(importlib.import_module(module), name)
    if getattr(found, "_is_protocol", False):
        return f"## `{module}.{name}` {{: #{module}.{name} }}\n\n{inspect.getdoc(found)}\n"
    return f"::: {module}.{name}\n"


def reference_of(module: str) -> str:
    """Return the page of a module, in the words of mkdocstrings."""
    found = importlib.import_module(module)
    names = public_names(module)
    table = [f"| [`{name}`](#{module}.{name}) | {first_line(getattr(found, name))} |" for name in names]
    entries = [entry_of(module, name) for name in names]
    return "\n".join([f"# {module}", "", MODULES[module], "", "| name | |", "|---|---|", *table, "", *entries])


def index_of_reference() -> str:
    """Return the page that lists the modules."""
    rows = [f"| [`{module}`](api/{module}.md) | {text} |" for module, text in MODULES.items()]
    return "\n".join(["# Reference", "", "| module | |", "|---|---|", *rows, ""])


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that do not lie in ``docs``."""
    for name in TOP:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    files.append(File.generated(config, "reference/index.md", content=index_of_reference()))
    for module in MODULES:
        files.append(File.generated(config, page_of(module), content=reference_of(module)))
    for picture in list(pictures(files, config)):
        files.append(picture)
    return files


def on_config(config: Any) -> Any:
    """Put the pages of the API into the navigation."""
    (section,) = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    section[1:1] = [{module: page_of(module)} for module in MODULES]
    return config


def title_of(found: File) -> str:
    """Return the heading of a page."""
    heading = _HEADING.search(found.content_string)
    return heading[1] if heading else found.name


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Make the tables of a page, and turn links that work in the repository into links that work in the site."""
    name = page.file.src_uri
    folder = posixpath.dirname(name if name in TOP else f"docs/{name}")

    def link(match: re.Match[str]) -> str:
        text, target, anchor = match[1], match[2], match[3] or ""
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        place = posixpath.normpath(posixpath.join(folder, target))
        uri = place.removeprefix("docs/")
        uri = "index.md" if uri == "README.md" else uri
        page_there = files.get_file_from_path(uri)
        if page_there is None:
            if not (ROOT / place).exists():
                return match[0]  # a dead link: MkDocs says so
            return text if text.startswith("`") else f"`{place}`"
        text = title_of(page_there) if text.endswith(".md") else text  # in the repository a page goes by its path
        return f"[{text}]({posixpath.relpath(uri, posixpath.dirname(name) or '.')}{anchor})"

    return _LINK.sub(link, with_tables(markdown))
