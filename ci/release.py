"""Checks what a release needs and writes its notes: ``python ci/release.py TAG FOLDER``.

The tag is ``v`` and the version of ``pyproject.toml`` behind ``+core.``; CHANGELOG.md has a section of that version,
which becomes ``FOLDER/notes.md``; every wheel in the folder is of that version.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def notes(version: str) -> str:
    """Return the section of a version in CHANGELOG.md."""
    _, found, rest = (ROOT / "CHANGELOG.md").read_text().partition(f"\n## {version}\n")
    if not found:
        sys.exit(f"CHANGELOG.md has no section '## {version}'")
    return rest.partition("\n## ")[0].strip() + "\n"


def main(tag: str, folder: Path) -> None:
    """End with an error where tag, version, notes and wheels do not fit together."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    own = version.partition("+core.")[2]
    if tag != f"v{own}":
        sys.exit(f"the tag {tag!r} is not that of version {version} in pyproject.toml: 'v{own}'")
    if left_over := [path.name for path in (ROOT / "changes").glob("*.*.md")]:
        sys.exit(f"changes/ holds {', '.join(left_over)}: run `towncrier build --version {version}` first")
    wheels = [path.name for path in folder.glob("*.whl")]
    if not any(name.startswith(f"zarr_core-{own}-") for name in wheels):
        sys.exit(f"{folder} holds no wheel of zarr-core {own}")
    if others := [name for name in wheels if not name.startswith((f"zarr-{version}-", f"zarr_core-{own}-"))]:
        sys.exit(f"{folder} holds wheels of other versions: {', '.join(others)}")
    (folder / "notes.md").write_text(notes(version))
    print(f"zarr-core {own}: {len(wheels)} wheels")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
