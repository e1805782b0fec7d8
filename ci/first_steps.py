"""Type the commands of ``docs/start/own_file.md`` in a fresh folder, and compare what they print with the page.

    python ci/first_steps.py WHEEL

Only the folder ``.`` that pip installs from is replaced by the wheel. The program of the page makes the HDF5 file.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "start" / "own_file.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARK = "-- from here on the page says what is printed"
MOST_COMMANDS = 6


def script_of(page: str, wheel: Path) -> tuple[str, str, int]:
    """Return the script of a page, what it prints after the mark, and how many commands lead to the first picture."""
    blocks = BLOCK.findall(page)
    install = next(body for kind, body in blocks if kind == "text")
    program = next(body for kind, body in blocks if kind == "python")
    consoles = "".join(body for kind, body in blocks if kind == "console")
    commands = [line[2:] for line in consoles.splitlines() if line.startswith("$ ")]
    first = next(number for number, line in enumerate(commands, 1) if line.startswith("zarr plot"))
    lines = [
        "set -e",
        install.replace('".[', f'"{wheel}['),
        f"python - <<'PROGRAM'\n{program}PROGRAM",
        f"echo '{MARK}'",
    ]
    for command in commands:
        lines += [f"echo '$ {command}'", command]
    return "\n".join(lines), consoles, len(install.splitlines()) + first


def main(arguments: list[str]) -> int:
    """Run the commands; the exit code is 1 if the page is wrong."""
    script, expected, count = script_of(PAGE.read_text(encoding="utf-8"), Path(arguments[0]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
        pictures = sorted(path.name for path in Path(folder).glob("*.png"))
    printed = done.stdout.partition(f"{MARK}\n")[2]
    if done.returncode or printed != expected or pictures != ["chunks.png", "counts.png"] or count > MOST_COMMANDS:
        print(done.stderr, printed, f"{PAGE.name}: exit code {done.returncode}, {count} commands, {pictures}", sep="\n")
        return 1
    print(f"first steps: {count} commands to the picture of an HDF5 file, as {PAGE.name} says")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
