"""Output of commands, and the question before something is removed."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import typer

_PLAIN_LIST: Final = re.compile(r"\[\n\s*([^][{}]*?)\n\s*\]")
_BREAK: Final = re.compile(r"\n\s*")  # no string of JSON has a line break


class NotAgreedError(Exception):
    """The user has not agreed to a removal; nothing was changed."""


class FoundError(Exception):
    """A check has found something; the output before it has the details."""


def agree(question: str, yes: bool) -> None:
    """Ask before something is removed.

    Parameters
    ----------
    question : str
        The text of the question.
    yes : bool
        If True, the user has agreed already, by ``--yes``.

    Raises
    ------
    NotAgreedError
        If the answer is no, or there is no terminal to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotAgreedError(f'there is no terminal to ask "{question}": say --yes; nothing was changed')
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise NotAgreedError("nothing was changed")


@contextmanager
def saying_how_to_go_on() -> Iterator[None]:
    """Say how a job goes on that Ctrl-C has stopped."""
    try:
        yield
    except KeyboardInterrupt:
        print("zarr: stopped: the same command with --resume goes on", file=sys.stderr)
        raise


def counted(number: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "node"), counted(2, "node")
    ('1 node', '2 nodes')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def say(text: str) -> None:
    """Print the output of a command; print nothing if it has no lines."""
    if text:
        typer.echo(text)


def say_json(value: Any) -> None:
    """Print a value as JSON, lists of plain values in one line."""
    text = json.dumps(finite(value), indent=2, ensure_ascii=False, default=str, allow_nan=False)
    typer.echo(_PLAIN_LIST.sub(lambda found: f"[{_BREAK.sub(' ', found[1])}]", text))


def say_result(as_json: bool, value: Any, text: str) -> None:
    """Print the result of a command: a value as JSON, or a text."""
    if as_json:
        say_json(value)
    else:
        say(text)


def finite(value: Any) -> Any:
    """Return a value with numbers that JSON lacks in the form of metadata documents: "NaN", "Infinity".

    Examples
    --------
    >>> finite({"valid": [0.0, float("inf")]})
    {'valid': [0.0, 'Infinity']}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines, their cells aligned.

    Examples
    --------
    >>> columns([("a", "1"), ("long", "2")]).split(chr(10))
    ['a     1', 'long  2']
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
