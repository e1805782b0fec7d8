"""Make random programs: each a list of steps that make sense one after the other."""

from __future__ import annotations

import random
from typing import Any, TypeVar

import numpy as np

from .model import Model, NotPossibleError, Step
from .places import KINDS, LOCKED, TRANSACTIONS, ways
from .steps import apply, fits_batch

T = TypeVar("T")
NAMES = ["a", "b", "ab", "é", "x.y", "c"]
KEYS = ["units", "k", "é"]
ATTRIBUTES = [1, "m", None, [1, {"a": "b"}], {"deep": {"x": [1.5, True]}}, "ü", 2**40, [], ""]
NUMBERS = ["bool", "i1", "u1", "i2", "i4", "i4", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ">i4", ">f8"]
OTHERS = ["string", "S5", "U5", "M8[s]", "m8[ms]", "struct"]
FILLS: dict[str, list[Any]] = {
    "b": [True], "i": [7, -1], "u": [7], "f": [1.5, float("nan"), float("inf")], "c": [1 + 2j], "S": [b"x"], "U": ["x"],
}  # fmt: skip
WEIGHTS = {
    "create_array": 8, "create_group": 3, "write": 16, "read": 10, "read_many": 2, "lazy": 3, "append": 5, "resize": 5,
    "attributes": 7, "delete": 2, "move": 3, "copy": 2, "consolidate": 1, "members": 3, "check": 1, "reopen": 2,
    "threads": 4, "tasks": 2, "group_batch": 3, "array_batch": 2, "transaction": 2, "conflict": 2,
}  # fmt: skip
INSIDE_BATCH = ["write", "read", "append", "resize", "attributes", "create_array", "create_group", "members",
                "threads", "lazy", "read_many", "consolidate", "move", "delete"]  # fmt: skip
INSIDE_ARRAY_BATCH = ["write", "read", "append", "resize", "read_many"]
BLOCKS = ("group_batch", "array_batch", "transaction")


class Maker:
    """Draws the steps of one program, and follows them with a model."""

    def __init__(self, seed: int, kinds: list[str] | None = None, without: tuple[str, ...] = ()) -> None:
        self.random = random.Random(seed)
        drawn = self.weighted({kind: weight for kind, weight in KINDS.items() if kinds is None or kind in kinds})
        self.kind, self.format = drawn, self.random.choice([2, 3, 3])
        self.model = Model()
        self.without = without
        self.batch: str | None = None

    def pick(self, items: Any) -> Any:
        """One of some things."""
        return self.random.choice(list(items))

    def chance(self, share: float) -> bool:
        """Yes, that often."""
        return self.random.random() < share

    def weighted(self, table: dict[T, int]) -> T:
        """One of some things, by weight."""
        return self.random.choices(list(table), list(table.values()))[0]

    def seed(self) -> int:
        """A seed of values."""
        return self.random.randrange(10_000)

    # ------------------------------------------------------------------------------------------ programs

    def program(self) -> list[Step]:
        """Draw all steps."""
        steps = self.steps(self.random.randint(3, 25), [op for op in WEIGHTS if op not in self.without], 0)
        return [*steps, ("check", {"way": self.pick(ways(self.kind))})]

    def steps(self, count: int, allowed: list[str], depth: int) -> list[Step]:
        """Draw steps, of some operations, that the model can follow."""
        steps: list[Step] = []
        while count > 0:
            count -= 1
            name = "create_array" if not self.model.arrays() else self.weighted({op: WEIGHTS[op] for op in allowed})
            step = self.block(name, depth) if name in BLOCKS else self.plain(name)
            if step is not None:
                steps.append(step)
        return steps

    def plain(self, name: str) -> Step | None:
        """Draw a step, and let the model follow it; none where it makes no sense."""
        try:
            drawn: dict[str, Any] = getattr(self, name)()
            step = (name, {"way": self.pick(ways(self.kind)), "face": self.pick(["sync", "sync", "async"]),
                           "direct": self.chance(0.3), **drawn})  # fmt: skip
            if self.batch is not None and not fits_batch(step, self.batch):
                return None
            apply(self.model, step)
        except NotPossibleError:
            return None
        return step

    def block(self, name: str, depth: int) -> Step | None:
        """Draw a scope with the steps in it."""
        length = self.random.randint(1, 8)
        if name == "transaction":
            if depth or self.kind not in TRANSACTIONS:
                return None
            before, commit = self.model.copy(), self.chance(0.75)
            allowed = [op for op in WEIGHTS if op not in ("transaction", "conflict", "reopen", "copy", *self.without)]
            steps = self.steps(length, allowed, depth + 1)
            if not commit:
                self.model = before
            return name, {"steps": steps, "commit": commit}
        if depth > 1:
            return None
        limit = self.pick([None, None, 1, 100])
        way = self.pick(ways(self.kind))
        if name == "array_batch":
            path = self.pick(self.model.arrays())
            steps = self.steps(length, INSIDE_ARRAY_BATCH, depth + 2)
            return name, {"path": path, "limit": limit, "way": way, "steps": [s for s in steps if s[1]["path"] == path]}
        path = self.pick(self.model.groups())
        self.batch = path
        allowed = [op for op in INSIDE_BATCH if op not in self.without and f"{op} in batches" not in self.without]
        steps = self.steps(length, allowed, depth + 2)
        self.batch = None
        return name, {"path": path, "limit": limit, "way": way, "steps": steps}

    # ------------------------------------------------------------------------------------------ nodes

    def path(self) -> str:
        """A path for a new node, mostly below a group that is there."""
        above = self.pick(self.model.groups()) if self.chance(0.7) else ""
        below = "/".join(self.pick(NAMES) for _ in range(self.random.choice([1, 1, 2])))
        return f"{above}/{below}" if above else below

    def attribute_set(self) -> dict[str, Any]:
        """Attributes of a new node."""
        return {self.pick(KEYS): self.pick(ATTRIBUTES) for _ in range(self.random.randrange(3))}

    def create_group(self) -> dict[str, Any]:
        """Make a group, by one of the functions."""
        how = self.pick(["create_group", "require_group", "create_hierarchy", "api", "open_group"])
        overwrite = how in ("create_group", "create_hierarchy", "api") and self.chance(0.15)
        attributes = {} if how in ("require_group",) else self.attribute_set()
        return {"path": self.path(), "how": how, "overwrite": overwrite, "attributes": attributes}

    def create_array(self) -> dict[str, Any]:
        """Make an array, by one of the functions."""
        functions = {"create_array": 6, "data": 3, "api": 3, "api_data": 2, "full": 1, "zeros": 1, "require_array": 1,
                     "setitem": 1, "api_array": 1, "open_array": 1, "create_dataset": 1, "from_array": 1}  # fmt: skip
        if self.batch is not None:  # these replace what is there
            functions = {how: weight for how, weight in functions.items() if how not in ("setitem", "open_array")}
        return {
            "path": self.path(), "how": self.weighted(functions), "overwrite": self.chance(0.15),
            "spec": self.spec(), "attributes": self.attribute_set(), "seed": self.seed(),
        }  # fmt: skip

    def spec(self) -> dict[str, Any]:
        """Shape, data type, grid, codecs, fill value, order, names of dimensions, settings."""
        dtype = self.pick(NUMBERS) if self.chance(0.75) else self.pick(OTHERS)
        shape = tuple(self.pick([0, 1, 2, 3, 5, 6, 7, 9, 12]) for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3])))
        spec: dict[str, Any] = {"dtype": dtype, "shape": shape, "chunks": tuple(self.pick(range(1, 6)) for _ in shape)}
        fills = FILLS.get(np.dtype(dtype).kind if dtype not in ("string", "struct") else "", [])
        if fills and self.chance(0.4):
            spec["fill_value"] = self.pick(fills)
        spec["codec"] = self.pick(["default", "default", "raw", "gzip", "zstd", "blosc"])
        if self.format == 2:
            spec["separator"], spec["order"] = self.pick([".", "/"]), self.pick(["C", "F"])
        else:
            self.add_newer(spec)
        spec["config"] = self.pick([
            None, None, {"write_empty_chunks": True}, {"chunk_cache_bytes": 10_000},
            {"locking": "process"} if self.kind in LOCKED else None,
        ])  # fmt: skip
        return spec

    def add_newer(self, spec: dict[str, Any]) -> None:
        """What only format 3 has."""
        shape, chunks = spec["shape"], spec["chunks"]
        if shape and self.chance(0.3):
            spec["shards"] = tuple(c * self.random.randint(1, 3) for c in chunks)
        elif shape and 0 not in shape and self.chance(0.25):
            spec["rectilinear"] = [self.cut(size) for size in shape]
        if shape and self.chance(0.2):
            spec["dimension_names"] = [self.pick([None, "x", "y"]) for _ in shape]
        if len(shape) > 1 and spec["dtype"] != "string" and self.chance(0.15):
            spec["transpose"] = self.random.sample(range(len(shape)), len(shape))
        if self.chance(0.1) and "shards" not in spec:
            spec["separator"] = "."

    def cut(self, size: int) -> list[int]:
        """Cut a length into chunks of different lengths."""
        found: list[int] = []
        while sum(found) < size:
            found.append(self.random.randint(1, min(5, size - sum(found))))
        return found

    def delete(self) -> dict[str, Any]:
        """Delete a node."""
        return {"path": self.pick([p for p in self.model.nodes if p] or [""])}

    def move(self) -> dict[str, Any]:
        """Move a node."""
        return {"path": self.pick([p for p in self.model.nodes if p] or [""]), "dest": self.path()}

    def copy(self) -> dict[str, Any]:
        """Copy a node."""
        drawn = self.move()
        below = [self.model.nodes[path].spec or {} for path in self.model.below(drawn["path"])]
        if "rectilinear copies" in self.without and any("rectilinear" in spec for spec in below):
            raise NotPossibleError("left out")
        return drawn

    # ------------------------------------------------------------------------------------------ elements

    def write(self) -> dict[str, Any]:
        """Write a selection."""
        return {**self.selection(True), "scalar": self.chance(0.25), "seed": self.seed()}

    def read(self) -> dict[str, Any]:
        """Read a selection."""
        return {**self.selection(False), "out": self.chance(0.1)}

    def read_many(self) -> dict[str, Any]:
        """Read several selections as one operation."""
        path = self.pick(self.model.arrays())
        shape = self.model.nodes[path].values.shape
        return {"path": path, "shape": shape, "selections": [self.basic(shape) for _ in range(3)], "kind": "basic"}

    def lazy(self) -> dict[str, Any]:
        """Read or write through a view of a view."""
        path = self.pick(self.model.arrays())
        shape = self.model.nodes[path].values.shape
        first = self.basic(shape, integers=False)
        seen = np.empty(shape, bool)[first].shape
        action = self.pick(["read", "transposed", "write"])
        return {"path": path, "shape": shape, "first": first, "second": self.basic(seen), "action": action,
                "seed": self.seed()}  # fmt: skip

    def selection(self, writing: bool) -> dict[str, Any]:
        """An array and a selection of it."""
        path = self.pick(self.model.arrays())
        node = self.model.nodes[path]
        shape, kinds = node.values.shape, {"basic": 6}
        if shape:
            kinds |= {"oindex": 2, "mask": 1} | ({"vindex": 2} if 0 not in shape else {})
            assert node.spec is not None
            if 0 not in shape and not {"shards", "rectilinear"} & set(node.spec):
                kinds["blocks"] = 1
        kind = self.weighted(kinds)
        drawn: Any = self.seed()
        if kind == "basic":
            drawn = self.basic(shape)
        elif kind == "oindex":
            drawn = tuple(self.one_axis(size, writing) for size in shape)
        elif kind == "vindex":
            drawn = self.points(shape, writing)
        elif kind == "blocks":
            assert node.spec is not None
            drawn = tuple(self.random.randrange(-(-n // c)) for n, c in zip(shape, node.spec["chunks"]))
        return {"path": path, "shape": shape, "kind": kind, "selection": drawn}

    def window(self, size: int) -> slice:
        """A slice of an axis."""
        if self.chance(0.3):
            return slice(None)
        start = self.random.randint(-size - 1, size)
        return slice(start, self.random.randint(-size, size + 2), self.pick([None, None, 1, 2, 3]))

    def basic(self, shape: tuple[int, ...], integers: bool = True) -> Any:
        """Slices and integers."""
        if self.chance(0.15):
            return Ellipsis
        parts = tuple(
            self.random.randrange(-n, n) if n and integers and self.chance(0.25) else self.window(n) for n in shape
        )
        return parts[: self.random.randint(1, len(parts))] if parts and self.chance(0.2) else parts

    def one_axis(self, size: int, writing: bool) -> Any:
        """A selection of one axis for oindex."""
        kind = self.pick(["slice", "list", "mask", "int"])
        if kind == "int" and size:
            return self.random.randrange(size)
        if kind == "mask":
            return [self.chance(0.5) for _ in range(size)] or slice(None)
        if kind == "list" and size:
            found = [self.random.randrange(size) for _ in range(self.random.randint(1, 4))]
            return sorted(set(found)) if writing else found
        return slice(self.random.randint(0, size), self.random.randint(0, size), self.pick([None, 2]))

    def points(self, shape: tuple[int, ...], writing: bool) -> tuple[list[int], ...]:
        """Coordinates of points."""
        found = [tuple(self.random.randrange(n) for n in shape) for _ in range(self.random.randint(1, 6))]
        return tuple(map(list, zip(*(dict.fromkeys(found) if writing else found))))

    def append(self) -> dict[str, Any]:
        """Append to an axis."""
        path = self.pick(self.model.arrays())
        axis = self.random.randrange(max(self.model.nodes[path].values.ndim, 1))
        return {"path": path, "axis": axis, "count": self.random.randint(0, 5), "seed": self.seed()}

    def resize(self) -> dict[str, Any]:
        """Change a shape."""
        path = self.pick(self.model.arrays())
        shape = tuple(max(0, n + self.random.randint(-6, 6)) for n in self.model.nodes[path].values.shape)
        return {"path": path, "new": shape}

    def attributes(self) -> dict[str, Any]:
        """Change attributes."""
        how = self.pick(["set", "set", "update", "update_attributes", "put", "delete"])
        return {"path": self.pick(self.model.nodes), "how": how, "key": self.pick(KEYS), "value": self.pick(ATTRIBUTES)}

    # ------------------------------------------------------------------------------------------ at once

    def threads(self) -> dict[str, Any]:
        """Threads that take a node from one group object and change parts of it, or make nodes."""
        path = self.pick(self.model.arrays())
        action = self.pick([*["write"] * 3, "attributes", "groups", "create", "require", "append", "consolidate"])
        if action == "create" and self.kind == "fsspec-memory":
            raise NotPossibleError("fsspec lists a dictionary there, which other threads may change meanwhile")
        return {"path": path, "count": self.random.randint(2, 8), "action": action, "seed": self.seed()}

    def conflict(self) -> dict[str, Any]:
        """Another writer changes what a transaction has read before it writes there."""
        if self.kind not in TRANSACTIONS:
            raise NotPossibleError(self.kind)
        return {**self.write(), "out": self.chance(0.1), "way": self.pick(["held", "store"])}

    def tasks(self) -> dict[str, Any]:
        """Tasks that write parts of an array, in a batch or without."""
        path = self.pick(self.model.arrays())
        return {"path": path, "seed": self.seed(), "batch": self.pick([None, "group", "array"])}

    def consolidate(self) -> dict[str, Any]:
        """Store copies of all documents at the root, and read by them."""
        return {}

    def members(self) -> dict[str, Any]:
        """List what is below a group."""
        return {"path": self.pick(self.model.groups())}

    def check(self) -> dict[str, Any]:
        """Compare all that is stored."""
        return {}

    def reopen(self) -> dict[str, Any]:
        """Close the store and open it again."""
        return {}


def make(seed: int, kinds: list[str] | None = None, without: tuple[str, ...] = ()) -> tuple[str, int, list[Step]]:
    """Make a program: the kind of its store, the format of its nodes, its steps."""
    maker = Maker(seed, kinds, without)
    return maker.kind, maker.format, maker.program()
