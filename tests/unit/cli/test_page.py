"""Pages that show commands show what the commands print."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("typer", reason="the command line needs the extra cli")

from zarr._cli.cli import COMMANDS

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "tools" / "command_line.md"

if not PAGE.exists():
    pytest.skip("docs lie in the source tree only", allow_module_level=True)


def recordings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recordings", DOCS / "recordings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["tools/command_line.md", "start/ten_minutes.md", "start/own_file.md"])
def test_the_recordings_of_a_page_are_what_is_printed(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To make them again: ``python docs/recordings.py``."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text()
    assert recordings().recorded(text) == text


def test_every_page_with_recordings_is_tested() -> None:
    """Commands that run until Ctrl-C stand in blocks of text."""
    shown = {page.resolve() for page in DOCS.rglob("*.md") if "```console\n$ zarr " in page.read_text()}
    assert shown == {page.resolve() for page in recordings().PAGES}


def test_the_page_shows_each_command() -> None:
    shown = re.findall(r"^\$ zarr (.*)$", PAGE.read_text(), re.MULTILINE)
    known = [words for rows in COMMANDS.values() for words in rows]
    assert [words for words in known if not any(line.startswith(words) for line in shown)] == []
