"""Finds what modules keep while a program runs, and compares it with the tables of docs/design/threads.md.

State is what threads share without being handed it: a name of a module that a function changes or that is bound anew,
an object of a class that may change, a cache of results, a class attribute that a function sets, a variable of C. A
container that nothing changes after its module is loaded is a constant and needs no line. What is changed through
another name than its own is not seen.

    check_module_state.py            faults, if there are any
    check_module_state.py --list     all state
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "design" / "threads.md"
CELL = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)  # the first one of a row: names, or `module.*` for all of one
NAME = re.compile(r"`(zarr[._][^`]+)`")
CHANGING = re.findall(
    r"\w+",
    """
add append appendleft clear discard extend insert pop popitem popleft put register remove reverse set setdefault sort
update
""",
)
CACHES = frozenset(("cache", "lru_cache"))
# Calls whose results do not change, or (loggers) are made for many threads by the standard library.
CONSTANT = re.findall(
    r"\w+",
    """
abspath ArrayConfig attrgetter auto bool borrowed_names BufferPrototype bytes cast chr classmethod compile ContextVar
dict dirname dtype float fromkeys frozenset get get_args get_type_hints getattr getLogger hasattr in_thread int
itemgetter join lazy_door lazy_names LazyModule list loggers MappingProxyType namedtuple NewType object ParamSpec
partial property range repeat replace set sorted staticmethod str Struct translate tuple TypeVar TypeVarTuple
""",
)
# A variable of C or Cython with a value; `cdef Type name = value` and `static type name[...]`, no function.
C_VARIABLE = {
    ".pyx": re.compile(
        r"^cdef (?!extern|class|enum|struct|inline|packed)([\w\[\], *]*?)(\w+)(?: *=.*|\s*(?:#.*)?)$", re.MULTILINE
    ),
    ".h": re.compile(r"^static (?!inline|const\b)([\w ]*?)\**(\w+)(?:\[\w*\])*\s*(?:=[^;]*)?;", re.MULTILINE),
}


def called(value: ast.expr) -> str | None:
    """Return the last name of what an expression calls, and for ``f(...)(...)`` that of ``f``."""
    if not isinstance(value, ast.Call):
        return None
    function = value.func
    while isinstance(function, ast.Call):
        function = function.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def is_empty(value: ast.expr | None) -> bool:
    """Return whether a value is an empty container, which is there to be filled."""
    return value is not None and ast.unparse(value) in ("{}", "[]", "set()", "dict()", "list()")


def root_of(target: ast.expr) -> str | None:
    """Return ``a`` for ``a[...]``, ``a.b`` and the like."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def bindings(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that statements outside of functions bind, with their values."""
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from ((name.id, statement.value) for name in ast.walk(target) if isinstance(name, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.value
        elif isinstance(statement, (ast.If, ast.Try, ast.With, ast.For)):
            for field in ("body", "orelse", "finalbody"):
                yield from bindings(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from bindings(handler.body)


class Functions(ast.NodeVisitor):
    """The names that the functions of one module change, and the functions that keep their results."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.caches: set[str] = set()
        self.bound: list[set[str]] = []
        self.scope: list[str] = []

    def visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            name = called(decorator) or getattr(decorator, "attr", getattr(decorator, "id", None))
            if name in CACHES:
                self.caches.add(".".join([*self.scope, node.name]))
        anew = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        arguments = node.args
        everything = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        own = {argument.arg for argument in everything if argument is not None}
        own |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        self.changed |= anew
        self.bound.append(own - anew)
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        self.bound.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def note(self, target: ast.expr) -> None:
        if not self.bound or not isinstance(target, (ast.Subscript, ast.Attribute)):
            return
        name = root_of(target)
        parts = ast.unparse(target).partition("[")[0].split(".")
        if name == "cls" and len(parts) > 1:  # of a class method: what its class holds
            self.changed.add(f"{self.scope[0]}.{parts[1]}")
        if name is None or any(name in own for own in self.bound):
            return
        self.changed.add(name)
        if len(parts) > 1:
            self.changed.add(".".join(parts[:2]))

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
                self.note(part)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.note(node.target)
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.note(target)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            self.note(ast.Subscript(node.func.value, ast.Constant(0)))
        self.generic_visit(node)


def module_state(path: Path) -> tuple[set[str], set[str], dict[str, tuple[str, str]]]:
    """Return the state of one module, all that its functions change, and what it imports: name to module and name."""
    tree = ast.parse(path.read_text())
    functions = Functions()
    functions.visit(tree)
    imported = {
        alias.asname or alias.name: (part.module, alias.name)
        for part in ast.walk(tree)
        if isinstance(part, ast.ImportFrom) and part.module
        for alias in part.names
    }
    found = set(functions.caches)
    classes = [("", tree.body), *[(f"{part.name}.", part.body) for part in tree.body if isinstance(part, ast.ClassDef)]]
    for prefix, body in classes:
        for name, value in bindings(body):
            call = called(value) if value is not None else None
            made = call is not None and call not in CONSTANT
            if prefix and made:  # in a class, most calls make a method or describe a field
                made = call.strip("_")[:1].isupper() or call in ("deque", "defaultdict", "count")
            if made or is_empty(value) or prefix + name in functions.changed or call in CACHES:
                found.add(prefix + name)
    # Attributes of a class that are set from outside of its body.
    own_classes = tuple(prefix for prefix, _ in classes if prefix)
    found |= {name for name in functions.changed if name.startswith(own_classes)}
    return found, functions.changed, imported


def python_state() -> set[str]:
    """Return all state of ``zarr`` and of the Python files of ``zarr_core``, as ``module.name``."""
    found: set[str] = set()
    for path in sorted([*ROOT.glob("zarr/**/*.py"), *ROOT.glob("zarr_core/*.py")]):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        own, changed, imported = module_state(path)
        found |= {f"{module}.{name}" for name in own}
        for name in changed:
            if name.partition(".")[0] in imported:
                home, known = imported[name.partition(".")[0]]
                is_module = (ROOT / home.replace(".", "/") / f"{known}.py").exists()
                if home.startswith("zarr") and not is_module:
                    found.add(f"{home}.{known}{name.partition('.')[1]}{name.partition('.')[2]}")
    return found


def core_state() -> set[str]:
    """Return the variables of the compiled core, as ``file: name``."""
    found: set[str] = set()
    for path in sorted((ROOT / "zarr_core").iterdir()):
        if path.suffix in C_VARIABLE:
            text = path.read_text()
            for kind, name in C_VARIABLE[path.suffix].findall(text):
                numbers = re.fullmatch(r"u?int(64_t)?|frozenset", kind.strip())
                if not numbers or re.search(rf"^\s+{name}\s*[-+|&]?= ", text, re.MULTILINE):
                    found.add(f"zarr_core/{path.name}: {name}")
    return found


def main(arguments: list[str]) -> int:
    """Print the state, or what the page lacks and what it names in vain; return 1 if there is a fault."""
    state = python_state() | core_state()
    if "--list" in arguments:
        print("\n".join(sorted(state)))
        return 0
    named = {name for cell in CELL.findall(PAGE.read_text()) for name in NAME.findall(cell)}
    stems = tuple(name.removesuffix("*") for name in named if name.endswith(".*"))
    listed = {name for name in named if not name.endswith(".*")} | {name for name in state if name.startswith(stems)}
    for name in sorted(state - listed):
        print(f"{name}: threads share it, and {PAGE.relative_to(ROOT)} does not name it: say there why they may")
    for name in sorted(listed - state):
        print(f"{PAGE.relative_to(ROOT)}: names {name}, which is no state of a module")
    return int(state != listed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
