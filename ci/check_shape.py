"""Check the sizes of files, functions and folders, the names of things, and the words of docstrings and docs.

Standard library only. Aims: one subject a file, 150-400 lines, functions of at most 20. Limits: 600 lines a file,
40 lines a function, 14 files a folder; docstrings do not count, so that no docstring is cut for that. What
stands above a limit is listed here with its reason, and nothing that is listed may be within it.
``python ci/check_shape.py --count`` prints the files and the lines of code of each room.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT, FUNCTION_LIMIT, FOLDER_LIMIT = 600, 40, 14
FORBIDDEN_NAMES = {"utils", "common", "helpers", "misc"}
# Paths that other libraries import; the file holds re-exports only.
FOREIGN_PATHS = {
    "zarr/core/common.py",
    "zarr/core/dtype/common.py",
    "zarr/core/dtype/npy/common.py",
    "zarr/core/metadata/common.py",
    "zarr/storage/_common.py",
    "zarr/storage/_utils.py",
    "zarr/testing/utils.py",
}
LONG_FILES: dict[str, str] = {}
# Import paths of zarr-python stand beside the files of the room; ``_`` begins those of zarr.storage.
COMPAT_FOLDERS = ("zarr", "zarr/core", "zarr/core/dtype/npy")
LONG_FUNCTIONS: dict[str, str] = {}
# Words that make sentences hard to read. Write the noun that is meant, and a technical verb (return, raise, read).
RIDDLE_WORDS = re.compile(
    r"\b(told|whoever|whomever|whosoever|amid|lest|somebody|anybody|everybody|thereof|whereof|hears|heeds)\b",
    re.IGNORECASE,
)
PROSE = ("zarr/**/*.py", "zarr_core/*.p*", "zarr_core/*.h", "docs/**/*.md", "*.md")


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function below its signature and docstring."""
    body = node.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        body = body[1:]
    if not body or node.end_lineno is None:
        return 0
    return node.end_lineno - body[0].lineno + 1


def check_file(path: Path) -> tuple[list[str], set[str]]:
    """Return the breaches of one file and the exceptions that it uses."""
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    breaches, used = [], set()
    count = text.count("\n") - (len(docstring_lines(text)) if path.suffix == ".py" else 0)
    if count > FILE_LIMIT:
        used.add(name)
        if name not in LONG_FILES:
            breaches.append(f"{name}: {count} lines, over {FILE_LIMIT}")
    if path.stem in FORBIDDEN_NAMES and name not in FOREIGN_PATHS:
        breaches.append(f"{name}: a room must not be called {path.stem}")
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > FUNCTION_LIMIT:
                label = f"{name}:{node.name}"
                used.add(label)
                if label not in LONG_FUNCTIONS:
                    breaches.append(f"{label}: {body_lines(node)} lines, over {FUNCTION_LIMIT}")
    if path.name == "__init__.py" and not (ast.get_docstring(ast.parse(text)) or ""):
        breaches.append(f"{name}: says nothing about what lives here")
    return breaches, used


def check_folders() -> list[str]:
    """Return the folders of ``zarr/`` that hold more files than a reader can take in."""
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in ROOT.glob("zarr/**/*.py")
        if not (path.parent.name == "storage" and path.name.startswith("_") and path.name != "__init__.py")
    )
    return [
        f"{folder}: {count} files, over {FOLDER_LIMIT}"
        for folder, count in sorted(counts.items())
        if count > FOLDER_LIMIT and folder not in COMPAT_FOLDERS
    ]


def check_words() -> list[str]:
    """Return the places of words that no docstring, comment, message or page of this library uses."""
    breaches = []
    for path in sorted({each for pattern in PROSE for each in ROOT.glob(pattern)}):
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = RIDDLE_WORDS.search(line)
            if found:
                breaches.append(f"{name}:{number}: the word {found[0]!r}; say the fact directly: {line.strip()[:80]}")
    return breaches


def docstring_lines(text: str) -> set[int]:
    """Return the numbers of the lines of docstrings."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def code_lines(text: str) -> int:
    """Count the lines that are neither blank nor comment nor docstring."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(text))


def print_counts() -> None:
    """Print the number of files and of lines of code of each room of ``zarr/``."""
    files, lines = Counter[str](), Counter[str]()
    for path in sorted(ROOT.glob("zarr/**/*.py")):
        parts = path.relative_to(ROOT).parts
        room = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        files[room] += 1
        lines[room] += code_lines(path.read_text(encoding="utf-8"))
    for room in sorted(files):
        print(f"{room:24}{files[room]:6}{lines[room]:8}")
    print(f"{'all':24}{files.total():6}{lines.total():8}")


def main() -> int:
    """Check every source file of ``zarr/`` and ``zarr_core/``."""
    if "--count" in sys.argv:
        print_counts()
        return 0
    files = sorted([*ROOT.glob("zarr/**/*.py"), *ROOT.glob("zarr_core/**/*.py"), *ROOT.glob("zarr_core/*.pyx")])
    breaches = check_folders() + check_words()
    used: set[str] = set()
    for path in files:
        found, some = check_file(path)
        breaches += found
        used |= some
    stale = (set(LONG_FILES) | set(LONG_FUNCTIONS)) - used
    breaches += [f"ci/check_shape.py: the exception {name} is no longer needed" for name in sorted(stale)]
    for line in breaches:
        print(line)
    print(f"shape: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
