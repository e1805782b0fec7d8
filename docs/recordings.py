"""Run the commands that a page shows, and write what they print: ``python docs/recordings.py``.

A page holds blocks of Python and blocks of ``console``. They run one after the other in one folder that is empty at
first. In a console block a line that begins with ``$ zarr`` is a command, and the lines below it are what it printed.
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

PAGE = Path(__file__).resolve().parent / "guide" / "command_line.md"
_BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)


def run_command(line: str) -> str:
    """What a command prints, without a terminal: the answer, then errors and warnings."""
    from zarr._cli.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before, sys.stdin = sys.stdin, io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(shlex.split(line)[1:])
    finally:
        sys.stdin = before
    return "".join(stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]


def recorded(text: str) -> str:
    """The text of a page with new recordings, made in the working directory."""
    names: dict[str, object] = {}

    def again(block: re.Match[str]) -> str:
        kind, body = block.groups()
        if kind == "python":
            exec(compile(body, "a block of the page", "exec"), names)
            return block[0]
        commands = [line for line in body.splitlines() if line.startswith("$ zarr ")]
        told = "".join(f"{line}\n{run_command(line[2:])}" for line in commands)
        return f"```console\n{told}```"

    return _BLOCK.sub(again, text)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        PAGE.write_text(recorded(PAGE.read_text()))
