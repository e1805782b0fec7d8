"""Tables of pages that are made from the code and from measurements: the settings, the errors, the growth.

A page asks for one by a comment, ``<!-- table: settings -->``. What the tables say stands in docstrings: those of
``zarr.config`` and of ``ArrayConfig`` for the settings, those of the classes of ``zarr.errors`` for the errors. The
numbers of growth are those that ``benchmarks/growth.py --save`` wrote.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import zarr.errors
from zarr.core.array_spec import ArrayConfig
from zarr.defaults import DEFAULTS
from zarr.settings import RULES, Config

GROWTH = Path(__file__).resolve().parents[2] / "benchmarks" / "growth.json"
MARK = re.compile(r"<!-- table: (\w+) -->")
REMEDY = "What to do:"
_BROAD = {Exception, BaseException, object, Warning}
_ENTRY = re.compile(r"^([\w.]+(?:, [\w.]+)*)(?: : (.+))?$")
_ROLE = re.compile(r":\w+:`~?([^`]+)`")


def flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Return each setting by its name with dots; the table of codecs counts as one."""
    for key, value in values.items():
        if isinstance(value, Mapping) and key != "codecs":
            yield from flat(value, f"{above}{key}.")
        else:
            yield above + key, value


def entries(owner: type, section: str) -> dict[str, str]:
    """Return what a section of a docstring says of each name."""
    found: dict[str, str] = {}
    names: list[str] = []
    body = (inspect.getdoc(owner) or "").split(f"{section}\n{'-' * len(section)}\n", 1)[1]
    for line in body.split("\n\n", 1)[0].splitlines():
        entry = _ENTRY.match(line)
        if line.startswith(" "):
            found.update({name: f"{found[name]} {line.strip()}".strip() for name in names})
        else:
            names = entry[1].split(", ") if entry else []
            found.update(dict.fromkeys(names, ""))
    return found


def plain(text: str) -> str:
    """Turn the marks of docstrings into those of pages."""
    return _ROLE.sub(r"`\1`", text).replace("``", "`").replace("|", "\\|").replace("<", "&lt;")


def meaning_of_settings() -> dict[str, str]:
    """Return what each setting means."""
    meanings = {f"array.{name}": text for name, text in entries(ArrayConfig, "Parameters").items()}
    return meanings | entries(Config, "Attributes")


def variable_of(setting: str) -> str:
    """Return the environment variable of a setting."""
    return "ZARR_" + setting.upper().replace(".", "__")


def table_of_settings() -> str:
    """Return all settings: name, environment variable, default, meaning, values."""
    meanings = meaning_of_settings()
    rows = ["| setting, environment variable | default | meaning |", "|---|---|---|"]
    for name, default in flat(DEFAULTS):
        shown = "a table" if isinstance(default, Mapping) else f"`{default!r}`"
        variable = "" if isinstance(default, Mapping) else f"<br>`{variable_of(name)}`"
        values = f" Values: {RULES[name][0]}." if name in RULES else ""
        rows.append(f"| `{name}`{variable} | {shown} | {plain(meanings[name])}{values} |")
    return "\n".join(rows)


def public_errors() -> list[type[BaseException]]:
    """Return the classes of ``zarr.errors``, each once, in the order in which they stand there."""
    found = [getattr(zarr.errors, name) for name in zarr.errors.__all__ if not name.startswith("_")]
    return [cls for cls in dict.fromkeys(found) if cls.__module__.startswith("zarr.")]


def cause_and_remedy(cls: type[BaseException]) -> tuple[str, str]:
    """Return what the docstring of an error says first, and the paragraph that says what to do."""
    paragraphs = [" ".join(part.split()) for part in (vars(cls).get("__doc__") or "").split("\n\n")]
    remedies = [part.removeprefix(REMEDY).strip() for part in paragraphs if part.startswith(REMEDY)]
    return plain(paragraphs[0]), plain(remedies[0][:1].upper() + remedies[0][1:]) if remedies else ""


def table_of_errors() -> str:
    """Return all errors and warnings: name, the classes of Python that catch it, too, cause, remedy."""
    rows = ["| class, also caught as | cause | what to do |", "|---|---|---|"]
    for cls in public_errors():
        cause, remedy = cause_and_remedy(cls)
        also = [base.__name__ for base in cls.__mro__ if base.__module__ == "builtins" and base not in _BROAD]
        rows.append(f"| `{cls.__name__}`<br>{', '.join(also)} | {cause} | {remedy} |")
    return "\n".join(rows)


def table_of_growth() -> str:
    """Return the measured rows: n, 10 n and 100 n of each library, or the error of what it could not do."""
    measured = json.loads(GROWTH.read_text(encoding="utf-8"))
    rows = [f"Machine: {measured['machine']}", "", "| row | n | this library | zarr-python | TensorStore |"]
    rows.append("|---|---|---|---|---|")
    for name, row in measured["rows"].items():
        cells = []
        for library in ("ours", "zarr-python", "tensorstore"):
            values = row["libraries"].get(library, [])
            texts = [f"{value:.3g}" if isinstance(value, float) else f"`{value}`" for value in values]
            cells.append("<br>".join(texts if len(set(texts)) > 1 else texts[:1]))
        unit = "" if row["unit"] == "ms" else f" [{row['unit']}]"
        sizes = "<br>".join(f"{size:,}" for size in row["sizes"])
        rows.append(f"| {name}{unit} | {sizes} | {' | '.join(cells)} |")
    return "\n".join(rows)


TABLES: dict[str, Callable[[], str]] = {
    "settings": table_of_settings,
    "errors": table_of_errors,
    "growth": table_of_growth,
}


def with_tables(markdown: str) -> str:
    """Return a page with its tables in the place of the comments that ask for them."""
    return MARK.sub(lambda mark: TABLES[mark[1]](), markdown)
