"""Run the commands that pages show, and write what they print: ``python docs/recordings.py``.

A page holds blocks of Python and blocks of ``console``. They run one after the other in one folder that is empty at
first. In a console block a line that begins with ``$ zarr`` is a command, and the lines below it are what it printed.
What a command prints that measures times stays as it is, if nothing but the numbers would change.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = [HERE / name for name in ("tools/command_line.md", "start/ten_minutes.md", "start/own_file.md")]
TIMED = ("$ zarr tune ", "$ zarr bench ")
_NUMBER = re.compile(r"\d[\d.e+-]*|\s+")
_COMMAND = re.compile(r"^(?=\$ zarr )", re.MULTILINE)
_BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


def run_command(line: str) -> str:
    """Return the output of a command, without a terminal: the answer, then errors and warnings."""
    from zarr._cli.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, sys.stdin = sys.stdin, io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(shlex.split(line)[1:])
    finally:
        sys.stdin = before
    return "".join(stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]


def run_again(recording: str) -> str:
    """A command with what it prints now."""
    line, _, before = recording.partition("\n")
    printed = run_command(line[2:])
    if line.startswith(TIMED) and _NUMBER.sub(" ", printed) == _NUMBER.sub(" ", before):
        printed = before
    return f"{line}\n{printed}"


def recorded(text: str) -> str:
    """The text of a page with new recordings, made in the working directory."""
    names: dict[str, object] = {}

    def again(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "python":
            exec(compile(body, "a block of the page", "exec", dont_inherit=True), names)
            return block[0]
        commands = [part for part in _COMMAND.split(body) if part.startswith("$ zarr ")]
        printed = "".join(map(run_again, commands))
        return f"```console\n{printed}```"

    return _BLOCK.sub(again, text)


if __name__ == "__main__":
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page.write_text(recorded(page.read_text()))
