"""Faults of consolidated metadata: it cannot be read, or differs from the documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from zarr.errors import MetadataValidationError
from zarr.metadata.documents import load_document
from zarr.metadata.group import parse_member
from zarr.steps.documents import node_key
from zarr.steps.requests import Steps
from zarr.storage.keys import is_key, join
from zarr.tools.contents.canonical import json_line, plain_document
from zarr.tools.verification.report import Fault
from zarr.tools.verification.survey import (
    NODE_NAMES,
    REFUSALS,
    Survey,
    error_text,
    is_left_over,
    is_set_aside,
    read_document_steps,
)
from zarr.types import ZarrFormat

COPY_NAMES: Final[dict[ZarrFormat, str]] = {2: ".zmetadata", 3: "zarr.json"}
"""The documents that may have consolidated metadata."""

_NAMES: Final[dict[ZarrFormat, tuple[str, ...]]] = {2: (".zarray", ".zgroup", ".zattrs"), 3: ("zarr.json",)}

_GONE: Final = "there is no such node"

Entries = dict[str, dict[str, Any]]
"""The documents in consolidated metadata: by the path of the node relative to the group, then by name."""


def find_faults(survey: Survey) -> Iterator[Fault]:
    """Yield the faults of all consolidated metadata, and note its copies of the documents of damaged nodes."""
    asked: list[tuple[str, ZarrFormat]] = []
    for path in sorted(survey.documents):
        if ".zmetadata" in survey.documents[path]:
            if _may_have_copy(survey, path):
                asked.append((path, 2))
            else:
                yield _stray(path)
        # Consolidated metadata inside a document cannot be read if the document itself cannot.
        if "zarr.json" in survey.documents[path] and survey.kinds.get(path) == "group":
            asked.append((path, 3))
    found = survey.run(read_document_steps(node_key(path, COPY_NAMES[each])) for path, each in asked)
    for (path, zarr_format), raw in zip(asked, found, strict=True):
        yield from _check(survey, path, zarr_format, raw)


def _may_have_copy(survey: Survey, path: str) -> bool:
    """Return True if a document ``.zmetadata`` may belong to a group, even to one whose document is missing."""
    return path not in survey.kinds or (survey.kinds[path] != "array" and 2 in survey.formats(path))


def _stray(path: str) -> Fault:
    text = "there is .zmetadata where there is no group of format 2: no reader looks at it."
    return Fault("key-stray", node_key(path, ".zmetadata"), path, text, mendable=True)


def _check(survey: Survey, path: str, zarr_format: ZarrFormat, raw: bytes | Fault | None) -> Iterator[Fault]:
    key = node_key(path, COPY_NAMES[zarr_format])
    if raw is None or isinstance(raw, Fault):
        yield from () if raw is None else (raw,)
        return
    try:
        entries = entries_of(load_document(raw, key), zarr_format)
    except MetadataValidationError as error:
        text = f"the consolidated metadata cannot be read: {error_text(error)}"
        yield Fault("copy-unreadable", key, path, text)
        return
    if entries is None:
        return
    survey.copies[key] = path
    wrong = sorted(_differing(survey, path, entries, zarr_format))
    if wrong:
        first = ", ".join(f"/{name}: {what}" for name, what in wrong[:3])
        text = f"the consolidated metadata are stale for {len(wrong)} nodes ({first}): consolidate them anew."
        yield Fault("copy-stale", key, path, text)


def can_consolidate(survey: Survey, path: str) -> bool:
    """Return True if consolidated metadata of a group can be made anew: all nodes below it must be readable.

    Parameters
    ----------
    survey : Survey
        After all consolidated metadata was searched: a copy in it makes a node readable.
    path : str
        The group.
    """
    if survey.kinds.get(path) != "group" or not survey.store.supports_consolidated_metadata:
        return False
    prefix = f"{path}/" if path else ""
    return all(each in survey.healthy_copies for each in survey.damaged if each.startswith(prefix))


def entries_of(document: Mapping[str, Any], zarr_format: ZarrFormat) -> Entries | None:
    """Return the documents in consolidated metadata; None if the document of a group has none.

    Raises
    ------
    MetadataValidationError
        If its place holds something else.

    Examples
    --------
    >>> entries_of({"metadata": {".zgroup": {"zarr_format": 2}}}, 2)
    {'': {'.zgroup': {'zarr_format': 2}}}
    """
    if zarr_format == 3:
        holder = document.get("consolidated_metadata")
        if not holder and holder in (None, {}):
            return None
    else:
        holder = document
        if document.get("zarr_consolidated_format", 1) != 1:
            raise MetadataValidationError(f"zarr_consolidated_format {document['zarr_consolidated_format']!r}, not 1")
    table = holder.get("metadata") if isinstance(holder, Mapping) else None
    if not isinstance(table, Mapping):
        raise MetadataValidationError(f"there is no object 'metadata' but {table!r:.80}")
    entries: Entries = {}
    for name, member in table.items():
        path, _, part = name.rpartition("/") if zarr_format == 2 else (name.strip("/"), "", "zarr.json")
        if part in _NAMES[zarr_format] and (path or zarr_format == 2):
            entries.setdefault(path, {})[part] = _without_copy(member)
    return entries


def _without_copy(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {name: value for name, value in document.items() if name != "consolidated_metadata"}


def _differing(
    survey: Survey, path: str, entries: Entries, zarr_format: ZarrFormat
) -> Iterator[tuple[str, str]]:
    """Yield the nodes, relative to the group, whose documents differ from consolidated metadata."""
    stored = dict(_reachable(survey, path, zarr_format))
    names = sorted(stored.keys() | entries.keys())
    results = survey.run(
        _compare_steps(survey, stored.get(name, join(path, name)), entries.get(name), zarr_format)
        for name in names
    )
    for name, what in zip(names, results, strict=True):
        if what == _GONE and _is_missing(survey, join(path, name), entries[name]):
            survey.healthy_copies[join(path, name)] = entries[name]
        elif what:
            yield name, what


def _is_missing(survey: Survey, path: str, copied: dict[str, Any]) -> bool:
    """Return True if a node without a document has lost it: a node may be there, and something lies below it.

    An entry is only a claim: it may lead out of the store, or below an array, where chunks lie.
    """
    if path and (not is_key(path) or is_set_aside(f"{path}/x") or is_left_over(f"{path}/x")):
        return False
    above = survey.owner_of(join(path, "x"))
    if above is not None and survey.kinds[above] == "array":
        return False
    return _parsed(copied, path) is not None and survey.has_keys(path)


def _reachable(survey: Survey, path: str, zarr_format: ZarrFormat) -> Iterator[tuple[str, str]]:
    """Yield the nodes that the group lists: those with groups of its format, one below the other, above them."""
    prefix = f"{path}/" if path else ""
    open_groups = {path}
    for each in survey.below(path):
        if zarr_format not in survey.formats(each):
            continue
        parent = each.rpartition("/")[0]
        if parent in open_groups:
            if survey.kinds[each] != "array":
                open_groups.add(each)
            yield each[len(prefix) :], each


def _compare_steps(
    survey: Survey, path: str, copied: dict[str, Any] | None, zarr_format: ZarrFormat
) -> Steps[str]:
    """Return how the documents of a node differ from those in consolidated metadata; an empty string if they do not."""
    if copied is None:
        return "the copy lacks it" if survey.kinds[path] != "damaged" else ""
    if not copied.keys() & NODE_NAMES:
        return ""
    names = survey.documents.get(path, frozenset())
    if not names & set(_NAMES[zarr_format]) & NODE_NAMES:
        return _GONE
    found: dict[str, Any] = {}
    for name in _NAMES[zarr_format]:
        raw = (yield from read_document_steps(node_key(path, name))) if name in names else None
        try:
            found |= {name: _without_copy(load_document(raw, name))} if isinstance(raw, bytes) else {}
        except MetadataValidationError:
            pass
    if survey.kinds[path] == "damaged":
        if _parsed(copied, path) is not None:
            survey.healthy_copies[path] = copied
        return ""
    return "" if _same(found, copied, path) else "the copy says something else"


def _parsed(documents: dict[str, Any], path: str) -> str | None:
    """Return the parsed documents of a node, in one form for equal meanings; None if they cannot be parsed."""
    name = next(name for name in ("zarr.json", ".zarray", ".zgroup") if name in documents)
    document = documents[name]
    try:
        if name == "zarr.json" and isinstance(document, Mapping):
            document = {"zarr_format": 3, **document}  # readers take a group without it for one of format 3
        if name != "zarr.json" and isinstance(document, Mapping):
            members = document if name == ".zarray" else {"zarr_format": document.get("zarr_format")}
            document = {**members, "attributes": documents.get(".zattrs") or {}}
        return json_line([name, plain_document(parse_member(document, path))])
    except REFUSALS:
        return None


def _same(stored: dict[str, Any], copied: dict[str, Any], path: str) -> bool:
    if {**stored, ".zattrs": stored.get(".zattrs") or {}} == {**copied, ".zattrs": copied.get(".zattrs") or {}}:
        return True
    meaning = _parsed(stored, path)
    return meaning is not None and meaning == _parsed(copied, path)
