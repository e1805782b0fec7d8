"""The pages under docs and the programs under examples run as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = sorted((ROOT / "docs").rglob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEEDS = re.compile(r"<!-- needs: (\w+) -->")
SAVED = re.compile(r"savefig\(\"([\w.-]+)\"")
PLOTTED = re.compile(r"\$ zarr plot \S+ ([\w.-]+)")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")
ALTERNATIVE = re.compile(r"!\[([^\]]*)\]\(")
FILE = re.compile(r"`((?:zarr|zarr_core|tests|docs|ci)/[\w./]+)(?:::[\w.]+)?`")
HOUSE = [ROOT / name for name in ("README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]

if not PAGES or not EXAMPLES:
    pytest.skip("docs and examples lie in the source tree only", allow_module_level=True)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS.findall(page.read_text()):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    blocks = FENCE.findall(page.read_text())
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page.name}, block {number + 1}", "exec", dont_inherit=True), names)
    assert blocks or "```python" not in page.read_text()
    assert [name for name in SAVED.findall(page.read_text()) if not (tmp_path / name).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, *HOUSE], ids=lambda page: page.stem)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    texts = [other.read_text() for other in page.parent.glob("*.md")]
    drawn = {name for text in texts for name in SAVED.findall(text) + PLOTTED.findall(text)}
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists() or target in drawn, f"{page.name}: {target}"


@pytest.mark.parametrize("page", [*PAGES, *HOUSE], ids=lambda page: page.stem)
def test_pictures_of_a_page_have_a_text_instead(page: Path) -> None:
    for text in ALTERNATIVE.findall(page.read_text()):
        assert len(text) > 20, f"{page.name}: {text!r} does not say what the picture shows"


@pytest.mark.parametrize("page", [*PAGES, *HOUSE], ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    for name in FILE.findall(page.read_text()):
        assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_indexes_lead_to_all_pages() -> None:
    indexes = [ROOT / "docs" / "index.md", ROOT / "docs" / "gallery" / "index.md"]
    linked = {(page.parent / target).resolve() for page in indexes for target in LINK.findall(page.read_text())}
    assert {*PAGES, *HOUSE} - {indexes[0]} <= linked


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_run(example: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(example), str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
