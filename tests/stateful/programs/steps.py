"""How the model follows each step: ``apply`` raises where a step makes no sense, and returns what running it needs."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .model import ZEROS, Model, Node, NotPossibleError, Step, same, values_of

SMALL = {"dtype": "i4", "shape": (3,), "chunks": (2,)}
MADE_EMPTY = ("create_array", "api", "require_array", "open_array", "full", "zeros")


def array_values(node: Node, step: dict[str, Any]) -> np.ndarray[Any, Any]:
    """What a new array holds."""
    spec = step["spec"]
    if step["how"] in MADE_EMPTY:
        return node.fill(spec["shape"])
    return values_of(spec["dtype"], spec["shape"], step["seed"])


def plain_spec(step: dict[str, Any]) -> dict[str, Any]:
    """Leave out what the chosen function does not take."""
    spec, how = dict(step["spec"]), step["how"]
    if how in ("setitem", "full", "zeros", "api_array", "open_array", "create_dataset", "require_array"):
        for name in ("shards", "rectilinear", "transpose", "dimension_names", "codec", "separator", "config"):
            spec.pop(name, None)
    if how in ("setitem", "zeros"):
        spec.pop("fill_value", None)
    if how == "setitem":
        spec.pop("order", None)
        spec["chunks_unknown"] = True
    if spec["dtype"] == "struct":
        spec.pop("fill_value", None)
    return spec


def create_array(model: Model, step: dict[str, Any]) -> Any:
    how, spec = step["how"], plain_spec(step)
    if how in ("setitem", "api_array", "from_array") and spec["dtype"] in ("string", "struct", "S5", "U5"):
        raise NotPossibleError("made from data that name no such type")
    if how == "full" and spec.get("fill_value") is None:
        raise NotPossibleError("full needs a value")
    if how == "zeros" and spec["dtype"] in ZEROS:
        raise NotPossibleError("zero is of no such type")
    overwrite = True if how in ("open_array", "setitem") else how != "require_array" and step["overwrite"]
    model.make_room(step["path"], overwrite)
    attributes = {} if how not in ("create_array", "data", "api", "api_data") else copy.deepcopy(step["attributes"])
    node = model.nodes[step["path"]] = Node(attributes, spec)
    node.values = array_values(node, step)
    return node


def create_group(model: Model, step: dict[str, Any]) -> None:
    model.make_room(step["path"], step["overwrite"])
    model.nodes[step["path"]] = Node(copy.deepcopy(step["attributes"]))


def delete(model: Model, step: dict[str, Any]) -> None:
    if not step["path"]:
        raise NotPossibleError("the root stays")
    model.node(step["path"])
    model.remove(step["path"])


def move(model: Model, step: dict[str, Any]) -> None:
    relocate(model, step, keep=False)


def relocate(model: Model, step: dict[str, Any], keep: bool) -> None:
    source, dest = step["path"], step["dest"]
    model.check_move(source, dest)
    if source.startswith(dest + "/"):
        raise NotPossibleError(dest)
    model.make_room(dest)
    for path in model.below(source):
        node = copy.deepcopy(model.nodes[path]) if keep else model.nodes.pop(path)
        model.nodes[dest + path[len(source) :]] = node


def copy_node(model: Model, step: dict[str, Any]) -> None:
    relocate(model, step, keep=True)


def check_shape(model: Model, step: dict[str, Any]) -> np.ndarray[Any, Any]:
    values = model.node(step["path"], "array").values
    if values.shape != step["shape"]:
        raise NotPossibleError("the shape is another by now")
    return np.asarray(values)


def read_many(model: Model, step: dict[str, Any]) -> Any:
    values = check_shape(model, step)
    return [np.asarray(values[selection], dtype=values.dtype) for selection in step["selections"]]


def lazy(model: Model, step: dict[str, Any]) -> Any:
    values = check_shape(model, step)
    first = step["first"]
    view = values[(*first, ...) if isinstance(first, tuple) else first]  # an array, also where none of its axes is left
    if step["action"] == "write":
        spec = model.nodes[step["path"]].spec
        assert spec is not None
        shape = np.empty(view.shape, bool)[step["second"]].shape
        written = values_of(spec["dtype"], shape, step["seed"])
        view[step["second"]] = written[()] if written.ndim == 0 else written
        return written
    view = np.asarray(view[step["second"]], dtype=values.dtype)
    return view.T if step["action"] == "transposed" else view


def write_rows(model: Model, step: dict[str, Any]) -> Any:
    node = model.node(step["path"], "array")
    assert node.spec is not None
    if not node.values.ndim:
        raise NotPossibleError("no rows")
    node.values[...] = values_of(node.spec["dtype"], node.values.shape, step["seed"])
    return node.values.copy()


def threads(model: Model, step: dict[str, Any]) -> Any:
    path, action, count = step["path"], step["action"], step["count"]
    if action == "write":
        return write_rows(model, step)
    node = model.node(path if action != "groups" else path.rpartition("/")[0])
    if action == "append":  # all append the same, in whatever order
        values = [model.append({**step, "axis": 0, "count": 1}) for _ in range(count)]
        return values[-1]
    if action == "require":
        model.make_room(f"t/r{step['seed']}/g")
        model.nodes[f"t/r{step['seed']}/g"] = Node()
        model.nodes[f"t/r{step['seed']}/a"] = Node({}, SMALL, np.zeros(3, "i4"))
    for i in range(count if action in ("attributes", "groups", "consolidate", "create") else 0):
        if action == "create":
            model.make_room(f"t/t{i}", overwrite=True)
            model.nodes[f"t/t{i}"] = Node({}, SMALL, np.full(3, i, "i4"))
        else:
            node.attributes[f"t{i}"] = i
    return None


def conflict(model: Model, step: dict[str, Any]) -> Any:
    before, whole = model.expected(step).copy(), model.node(step["path"]).values.copy()
    written = model.write(step)
    if same(model.node(step["path"]).values, whole):
        raise NotPossibleError("no change")
    return before, written


def members(model: Model, step: dict[str, Any]) -> Any:
    path = step["path"]
    model.node(path, "group")
    prefix = path + "/" if path else ""
    return sorted(p[len(prefix) :] for p in model.below(path) if p != path) if path else sorted(set(model.nodes) - {""})


APPLY: dict[str, Any] = {
    "create_array": create_array, "create_group": create_group, "delete": delete, "move": move, "copy": copy_node,
    "write": Model.write, "read": Model.expected, "read_many": read_many, "lazy": lazy, "append": Model.append,
    "resize": lambda model, step: model.resize(step["path"], step["new"]), "attributes": Model.set_attributes,
    "threads": threads, "tasks": write_rows, "members": members, "conflict": conflict,
}  # fmt: skip


def apply(model: Model, step: Step) -> Any:
    """Let the model follow one step."""
    name, parameters = step
    if name not in APPLY:
        return None
    if name in ("write", "read", "conflict") and parameters["kind"] == "blocks":
        check_blocks(model, parameters)
    before = model.nodes
    model.nodes = dict(before)  # a step that is refused half way leaves no trace of nodes
    try:
        return APPLY[name](model, parameters)
    except NotPossibleError:
        model.nodes = before
        raise


def fits_batch(step: Step, batch: str) -> bool:
    """Whether a step may stand in the scope of a batch of a group: what is pending is known to that group object only.

    The group itself stays, and what lies in it is not removed, replaced or moved away by another object.
    """
    name, parameters = step
    path, inside = parameters.get("path", ""), f"{batch}/" if batch else ""
    if parameters.get("overwrite") and inside.startswith(f"{path}/"):
        return False
    if name == "delete":
        return bool(path.startswith(inside))
    if name == "move":
        within = parameters["dest"].startswith(inside) or not path.startswith(inside)
        return within and not inside.startswith(f"{path}/")
    if name == "create_array":
        return parameters["how"] in ("create_array", "data") or not parameters["overwrite"]
    if name == "create_group":
        return not parameters["overwrite"]
    return not (name == "threads" and parameters["action"] in ("create", "require") and batch)


def check_blocks(model: Model, step: dict[str, Any]) -> None:
    """Whole chunks are asked for by number where the model knows the grid."""
    spec = model.node(step["path"], "array").spec
    if spec is None or {"shards", "rectilinear", "chunks_unknown"} & set(spec):
        raise NotPossibleError("the grid is not known")
