"""The oracle of random programs: a dictionary of nodes, with attributes and NumPy arrays."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Step = tuple[str, dict[str, Any]]
"""The name of an operation and its parameters: plain values, so that a program can be printed and run again."""
ZEROS = {"string": "", "S5": b"", "U5": "", "struct": (0, 0), "M8[s]": "NaT", "m8[ms]": "NaT"}
"""What stands where nothing was written and no fill value was named, if it is not 0."""
STRUCT = [("a", "<i2"), ("b", "<f4")]


class NotPossibleError(Exception):
    """A step makes no sense in the present state: it is left out (after the reducer dropped one that it needs)."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The data type of the model's values; text of any length is kept as objects."""
    return np.dtype(object) if name == "string" else np.dtype(STRUCT) if name == "struct" else np.dtype(name)


def values_of(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    """Make values of a data type: few different ones, so that whole chunks come to hold the fill value."""
    rng = np.random.default_rng(seed)
    numbers = np.asarray(rng.integers(0, 100 if seed % 5 else 1, shape))
    if dtype == "struct":
        values = np.zeros(shape, STRUCT)
        values["a"], values["b"] = numbers, numbers / 4
        return values
    if dtype in ("string", "U5", "S5"):
        return np.array([f"{n}" if n % 3 else "" for n in numbers.ravel()], numpy_dtype(dtype)).reshape(shape)
    if dtype == "bool":
        return np.asarray(numbers % 2 == 0)
    if np.dtype(dtype).kind == "c":
        return np.asarray(numbers + 1j * (numbers % 7)).astype(dtype)
    return np.asarray(numbers.astype("i8").astype(dtype))


@dataclass
class Node:
    """A group (``spec`` is None) or an array: its attributes, how it was made, and what it holds."""

    attributes: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] | None = None
    values: Any = None

    def fill(self, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        """An array of the fill value."""
        assert self.spec is not None
        dtype, fill = self.spec["dtype"], self.spec.get("fill_value")
        whole = np.zeros(shape, numpy_dtype(dtype))
        whole[...] = ZEROS.get(dtype, 0) if fill is None else fill
        return whole


def orthogonal(values: np.ndarray[Any, Any], selection: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The index by which NumPy takes a selection of each axis, and the shape of the result."""
    lists, shape = [], []
    for part, size in zip(selection, values.shape):
        if isinstance(part, int):
            lists.append(np.array([part]))
            continue
        lists.append(np.arange(size)[np.asarray(part, dtype=None if part else int) if isinstance(part, list) else part])
        shape.append(len(lists[-1]))
    return np.ix_(*lists), tuple(shape)


class Model:
    """What the store must hold."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {"": Node()}

    def copy(self) -> Model:
        """An independent copy."""
        return copy.deepcopy(self)

    def node(self, path: str, kind: str | None = None) -> Node:
        """A node that is there."""
        found = self.nodes.get(path)
        if found is None or (kind == "array" and found.spec is None) or (kind == "group" and found.spec is not None):
            raise NotPossibleError(path)
        return found

    def arrays(self) -> list[str]:
        """The paths of all arrays."""
        return [path for path, node in self.nodes.items() if node.spec is not None]

    def groups(self) -> list[str]:
        """The paths of all groups."""
        return [path for path, node in self.nodes.items() if node.spec is None]

    def below(self, path: str) -> list[str]:
        """A node and all below it."""
        return [other for other in self.nodes if other == path or other.startswith(path + "/")]

    def make_room(self, path: str, overwrite: bool = False) -> None:
        """Make the groups above a new node; refuse where an array or the node itself is in the way."""
        parts = path.split("/")
        above = ["/".join(parts[:i]) for i in range(1, len(parts))]
        if any(self.nodes[p].spec is not None for p in above if p in self.nodes):
            raise NotPossibleError(path)
        if path in self.nodes and not overwrite:
            raise NotPossibleError(path)
        self.remove(path)
        for p in above:
            self.nodes.setdefault(p, Node())

    def remove(self, path: str) -> None:
        """Forget a node and all below it."""
        for other in self.below(path):
            del self.nodes[other]

    def check_move(self, source: str, dest: str) -> None:
        """Refuse what no call can do."""
        self.node(source)
        if source == "" or dest == source or dest.startswith(source + "/"):
            raise NotPossibleError(source)

    # ------------------------------------------------------------------------------------------ selections

    def located(self, step: dict[str, Any]) -> tuple[Node, Any, tuple[int, ...]]:
        """The array of a step, the index by which NumPy selects, and the shape of the selection."""
        node = self.node(step["path"], "array")
        values, kind, selection = node.values, step["kind"], step["selection"]
        if len(step["shape"]) != values.ndim or step["shape"] != values.shape:
            raise NotPossibleError("the shape is another by now")
        if kind == "mask":
            mask = np.random.default_rng(selection).random(values.shape) < 0.4
            return node, mask, (int(mask.sum()),)
        if kind == "vindex":
            return node, tuple(np.array(part, int) for part in selection), (len(selection[0]),)
        if kind == "oindex":
            index, shape = orthogonal(values, selection)
            return node, index, shape
        if kind == "blocks":
            assert node.spec is not None
            selection = tuple(slice(b * c, (b + 1) * c) for b, c in zip(selection, node.spec["chunks"]))
        return node, selection, np.empty(values.shape, bool)[selection].shape

    def expected(self, step: dict[str, Any]) -> np.ndarray[Any, Any]:
        """What a reading step returns."""
        node, index, shape = self.located(step)
        return np.asarray(node.values[index], dtype=node.values.dtype).reshape(shape)

    # ------------------------------------------------------------------------------------------ changes

    def write(self, step: dict[str, Any]) -> Any:
        """Write, and return the values that were written."""
        node, index, shape = self.located(step)
        assert node.spec is not None
        dtype = node.spec["dtype"]
        values: Any = values_of(dtype, () if step["scalar"] else shape, step["seed"])
        if step["scalar"]:
            values = values[()]
        node.values[index] = values if step["scalar"] or step["kind"] != "oindex" else values.reshape(
            node.values[index].shape
        )  # fmt: skip
        return values

    def resize(self, path: str, shape: tuple[int, ...]) -> None:
        """Change the shape; what is new holds the fill value."""
        node = self.node(path, "array")
        if len(shape) != node.values.ndim:
            raise NotPossibleError(path)
        kept = tuple(slice(0, min(a, b)) for a, b in zip(shape, node.values.shape))
        grown = node.fill(shape)
        grown[kept] = node.values[kept]
        node.values = grown

    def append(self, step: dict[str, Any]) -> Any:
        """Append, and return what was appended."""
        node = self.node(step["path"], "array")
        assert node.spec is not None
        if node.values.ndim <= step["axis"]:
            raise NotPossibleError(step["path"])
        shape = list(node.values.shape)
        shape[step["axis"]] = step["count"]
        values = values_of(node.spec["dtype"], tuple(shape), step["seed"])
        node.values = np.concatenate([node.values, values], axis=step["axis"])
        return values

    def set_attributes(self, step: dict[str, Any]) -> None:
        """Change attributes."""
        attributes = self.node(step["path"]).attributes
        if step["how"] == "delete":
            if step["key"] not in attributes:
                raise NotPossibleError(step["key"])
            del attributes[step["key"]]
            return
        if step["how"] == "put":
            attributes.clear()
        attributes[step["key"]] = copy.deepcopy(step["value"])


def same(got: Any, expected: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays are equal bit for bit, whatever their byte orders."""
    got = np.asarray(got, dtype=expected.dtype if expected.ndim == 0 and expected.dtype.kind in "SU" else None)
    if got.shape != expected.shape:
        return False
    if expected.dtype == object:
        return bool(got.tolist() == expected.tolist())
    if got.dtype.newbyteorder("=") != expected.dtype.newbyteorder("="):
        return False
    native = expected.dtype.newbyteorder("=")
    return bool(got.astype(native).tobytes() == expected.astype(native).tobytes())
