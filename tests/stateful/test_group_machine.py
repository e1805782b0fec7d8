"""Random sequences of node creations, deletions, moves and attribute changes against a dictionary."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import zarr
from zarr.storage import MemoryStore

NAMES = st.sampled_from(["a", "b", "ab", "é", "A"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


class GroupMachine(RuleBasedStateMachine):
    """The model: path -> ("group" or "array", attributes). Every ancestor of a node is a group."""

    @initialize(zarr_format=st.sampled_from([2, 3]))
    def create(self, zarr_format: int) -> None:
        self.root = zarr.create_group(MemoryStore(), zarr_format=zarr_format)
        self.model: dict[str, tuple[str, dict[str, Any]]] = {}

    def is_free(self, path: str) -> bool:
        parts = path.split("/")
        above = ["/".join(parts[:i]) for i in range(1, len(parts))]
        return path not in self.model and all(self.model.get(p, ("group",))[0] == "group" for p in above)

    def add_ancestors(self, path: str) -> None:
        parts = path.split("/")
        for i in range(1, len(parts)):
            self.model.setdefault("/".join(parts[:i]), ("group", {}))

    @rule(path=PATHS, kind=st.sampled_from(["group", "array"]))
    def create_node(self, path: str, kind: str) -> None:
        if not self.is_free(path):
            return
        for i in range(1, path.count("/") + 1):
            self.root.require_group("/".join(path.split("/")[:i]))
        if kind == "group":
            self.root.create_group(path)
        else:
            self.root.create_array(path, shape=(3,), chunks=(2,), dtype="i2")
        self.add_ancestors(path)
        self.model[path] = (kind, {})

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.model)))
        del self.root[path]
        self.model = {p: n for p, n in self.model.items() if p != path and not p.startswith(path + "/")}

    @precondition(lambda self: self.model)
    @rule(data=st.data(), value=st.integers() | st.text(max_size=3))
    def set_attribute(self, data: st.DataObject, value: Any) -> None:
        path = data.draw(st.sampled_from(sorted(self.model)))
        self.root[path].attrs["k"] = value
        self.model[path][1]["k"] = value

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def overwrite(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.model)))
        self.root.create_group(path, overwrite=True)
        self.model = {p: n for p, n in self.model.items() if not p.startswith(path + "/")}
        self.model[path] = ("group", {})

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "root"):
            return
        found = {
            path: ("array" if isinstance(node, zarr.Array) else "group", node.attrs.asdict())
            for path, node in self.root.members(max_depth=None)
        }
        assert found == self.model
        assert all(path in self.root for path in self.model)


TestGroupMachine = GroupMachine.TestCase
TestGroupMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
