"""Imports go down, never up, never in a circle (ARCHITECTURE.md, "The rooms").

Standard library only. Run as ``python ci/check_layers.py``; prints every breach and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A room is named by the longest prefix that matches. A module may import its own room and every lower floor.
FLOORS: dict[str, float] = {
    "zarr_core": 0,
    "zarr.errors": 1,
    "zarr.notices": 1,
    "zarr.types": 1,
    "zarr.typed_dicts": 1,
    "zarr.settings": 1,
    "zarr.defaults": 1,
    "zarr.buffer": 1,
    "zarr.abc": 1,
    "zarr.abc.codec": 2.15,
    "zarr.registry.tables": 1,
    "zarr.registry": 2.16,
    "zarr.logs": 1,
    "zarr._lazy": 1,
    "zarr._process": 1,
    "zarr._records": 1,
    "zarr.older_calls": 1,
    "zarr.dtype": 2.0,
    "zarr.chunks": 2.1,
    "zarr.chunks.key_extensions": 2.11,
    "zarr.codecs": 2.3,
    "zarr.metadata": 2.4,
    "zarr.storage": 2.4,
    "zarr.steps.requests": 1.9,
    "zarr.steps": 3.0,
    "zarr.runners": 3.1,
    "zarr.arrays": 4,
    "zarr.groups": 5,
    "zarr.metadata.migrate_v3": 6,
    "zarr.api": 6,
    "zarr.transactions": 6.2,
    "zarr.draft3": 6.2,
    "zarr": 6.5,
    "zarr.testing": 7,
    "zarr.tools": 6.8,
    "zarr.serving": 6.85,
    "zarr._cli": 7,
    "zarr.__main__": 7.1,
    "zarr.core": 7,
    "zarr.models": 7,
    "zarr.experimental": 7,
    "zarr.h5py_compat": 7,
    "zarr.convenience": 7,
    "zarr.hierarchy": 7,
    "zarr.array_api": 6.2,
    "zarr.creation": 7,
    "zarr.indexing": 7,
    "zarr.sync": 7,
    "zarr.util": 7,
    "zarr.attrs": 7,
    "zarr.meta": 7,
    "zarr.n5": 7,
    "zarr.context": 7,
    "zarr.version": 7,
    "zarr._storage": 7,
    "zarr._version": 1,
}
# Private import paths that other libraries use: front rooms, re-exports only, though their folder lies lower.
FRONT_ROOMS = ("zarr.storage._", "zarr.codecs._v2")
# Rooms in which modules still name each other in a circle, through types or modules that are loaded late. The list may
# only shrink: a room that has no such circle must leave it.
OPEN_ROOMS: set[str] = set()
# Rooms that stand on the public API alone, as a program of a user does, and the modules that they may import.
PUBLIC_ONLY = ("zarr.h5py_compat", "zarr.models")
PUBLIC_MODULES = {
    "zarr",
    "zarr.buffer",
    "zarr.codecs",
    "zarr.codecs.numcodecs",
    "zarr.core.sync",
    "zarr.dtype",
    "zarr.errors",
    "zarr.metadata",
    "zarr.notices",
    "zarr.storage",
    "zarr.storage._common",
}
# Modules of ours that need an optional library themselves, and who may import them when it is wanted.
LOCAL_IMPORTS = {("zarr.__main__", "zarr._cli.cli"): "typer is an extra"}


def room_of(module: str) -> str | None:
    """Return the room (longest known prefix) of a dotted module name, or None when it is none of ours."""
    parts = module.split(".")
    for size in range(len(parts), 0, -1):
        name = ".".join(parts[:size])
        if name in FLOORS:
            return name if name != "zarr" or size == len(parts) or parts[0] == "zarr" else None
    return None


def module_name(path: Path) -> str:
    """Return the dotted name of a file of this repository."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def is_type_only(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether an import stands under ``if TYPE_CHECKING``."""
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return True
    return False


def inside_function(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether an import stands inside a function body."""
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return True
    return False


def offers_of(tree: ast.Module) -> dict[str, str]:
    """Return the names that a door offers lazily (``lazy_names``), each with the module that defines it."""
    found: dict[str, str] = {}
    named = {ast.unparse(node.targets[0]): node.value for node in tree.body if isinstance(node, ast.Assign)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "lazy_names":
            for table in (named.get(getattr(node, "id", ""), node) for node in call.args):
                if not isinstance(table, ast.Dict):
                    continue
                for key, value in zip(table.keys, table.values):
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                        found |= dict.fromkeys(str(value.value).split(), str(key.value))
    return found


def offers_at(path: Path) -> dict[str, str]:
    """Return what the door at a path offers lazily; nothing where there is no door."""
    if path not in _OFFERS:
        _OFFERS[path] = offers_of(ast.parse(path.read_text(encoding="utf-8"))) if path.exists() else {}
    return _OFFERS[path]


_OFFERS: dict[Path, dict[str, str]] = {}


def defined_in(base: str, name: str) -> str:
    """Return the module that ``from base import name`` needs: behind a door, the one that defines the name."""
    place = ROOT / base.replace(".", "/")
    if (place / f"{name}.py").exists() or (place / name / "__init__.py").exists():
        return f"{base}.{name}"
    home = offers_at(place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).get(name)
    return defined_in(home, name) if home is not None else base


def lazy_modules(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the lines and names of the modules that are loaded late."""
    return [
        (node.lineno, str(node.args[0].value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "LazyModule" and node.args
        if isinstance(node.args[0], ast.Constant)
    ]


def edges_of(tree: ast.Module, path: Path) -> list[tuple[str, str]]:
    """Return all imports of ours in a file: for typing and loaded late, too, but for what a door only offers."""
    module, parents = module_name(path), {c: n for n in ast.walk(tree) for c in ast.iter_child_nodes(n)}
    offers, edges = offers_at(path), [(module, name) for _, name in lazy_modules(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            edges += [(module, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            offered = is_type_only(node, parents)
            edges += [
                (module, defined_in(node.module, alias.name))
                for alias in node.names
                if not (offered and alias.name in offers)
            ]
    return [(source, target) for source, target in edges if target.split(".")[0] in ("zarr", "zarr_core")]


def targets_of(node: ast.Import | ast.ImportFrom, module: str, is_package: bool) -> list[str]:
    """Return the dotted names that an import statement asks for."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        anchor = module.split(".")
        anchor = anchor[: len(anchor) - node.level + (1 if is_package else 0)]
        base = ".".join([*anchor, base] if base else anchor)
    return [base if room_of(f"{base}.{a.name}") == room_of(base) else f"{base}.{a.name}" for a in node.names]


def allowed(module: str, target: str) -> bool:
    """Say whether ``module`` may import ``target``."""
    here, there = room_of(module), room_of(target)
    if there is None or here is None or here == there:
        return True
    if here in PUBLIC_ONLY:
        return target in PUBLIC_MODULES or target.startswith("zarr.abc.")
    if module.startswith(FRONT_ROOMS):
        return True
    if FLOORS[there] < FLOORS[here]:
        return True
    return FLOORS[there] == FLOORS[here] and FLOORS[here] in (1, 7)


def check_file(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the breaches of one file and its imports of ours as edges."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    module, breaches, offers = module_name(path), [], offers_at(path)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        local = inside_function(node, parents)
        if is_type_only(node, parents) and offers and all(alias.name in offers for alias in node.names):
            continue  # for type checkers, what the door offers lazily
        for target in targets_of(node, module, path.name == "__init__.py"):
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            top = target.split(".")[0]
            if top == "zarr_core" and target.count(".") and not module.startswith("zarr_core"):
                breaches.append(f"{where}: {target}: zarr_core is entered by its one door")
            if not allowed(module, target):
                breaches.append(f"{where}: {module} (floor {floor(module)}) imports {target} (floor {floor(target)})")
            if local and top in ("zarr", "zarr_core") and (module, target) not in LOCAL_IMPORTS:
                breaches.append(f"{where}: import of {target} inside a function")
    for line, target in lazy_modules(tree):
        if not allowed(module, target):
            breaches.append(f"{path.relative_to(ROOT)}:{line}: {module} loads {target} (floor {floor(target)})")
    return breaches, edges_of(tree, path)


def floor(module: str) -> float | None:
    """Return the floor of a module, for messages."""
    room = room_of(module)
    return None if room is None else FLOORS[room]


def find_circles(edges: list[tuple[str, str]], modules: set[str]) -> list[list[str]]:
    """Return the import circles among modules (Tarjan's strongly connected components)."""
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for source, target in edges:
        while target not in modules and "." in target:
            target = target.rpartition(".")[0]
        # A package's own __init__ gathers its modules: importing a sibling passes through it without a circle.
        if target in modules and target != source and not source.startswith(target + "."):
            graph[source].add(target)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    circles: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for following in sorted(graph[node]):
            if following not in index:
                visit(following)
                low[node] = min(low[node], low[following])
            elif following in stack:
                low[node] = min(low[node], index[following])
        if low[node] == index[node]:
            component = []
            while True:
                member = stack.pop()
                component.append(member)
                if member == node:
                    break
            if len(component) > 1:
                circles.append(sorted(component))

    for module in sorted(modules):
        if module not in index:
            visit(module)
    return circles


def main() -> int:
    """Check every file of ``zarr/`` and ``zarr_core/``."""
    sys.setrecursionlimit(10_000)
    files = sorted([*ROOT.glob("zarr/**/*.py"), *ROOT.glob("zarr_core/**/*.py")])
    breaches, edges = [], []
    for path in files:
        found, some = check_file(path)
        breaches += found
        edges += some
    circles = find_circles(edges, {module_name(path) for path in files})
    still_open = {room for circle in circles for room in map(room_of, circle) if room is not None}
    for circle in circles:
        line = "import circle: " + " <-> ".join(circle)
        if {room_of(module) for module in circle} <= OPEN_ROOMS:
            print(f"open: {line}")
        else:
            breaches.append(line)
    breaches += [f"ci/check_layers.py: {room} has no circle any more" for room in sorted(OPEN_ROOMS - still_open)]
    for line in breaches:
        print(line)
    print(f"layers: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
