"""Files and functions keep a readable size; names keep their meaning.

Standard library only. Aims: files of 150-300 lines, functions of at most 20. Limits: 500 lines a file and 40 lines
a function; what stands above a limit is listed here with its reason, and nothing that is listed may be within it.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT, FUNCTION_LIMIT = 500, 40
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
LONG_FILES: dict[str, str] = {
    "zarr/core/indexing.py": "one public module of another library, name by name; its indexers share one page",
}
LONG_FUNCTIONS: dict[str, str] = {}


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
    count = text.count("\n")
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


def main() -> int:
    """Check every source file of ``zarr/`` and ``zarr_core/``."""
    files = sorted([*ROOT.glob("zarr/**/*.py"), *ROOT.glob("zarr_core/**/*.py"), *ROOT.glob("zarr_core/*.pyx")])
    breaches: list[str] = []
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
