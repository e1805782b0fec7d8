"""Run a program: each step on the library and on the model, and compare what is read."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import zarr
from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec
from zarr.errors import TransactionConflictError

from .model import Model, NotPossibleError, Step, numpy_dtype, same
from .places import FOLDERS, Place
from .steps import SMALL, apply, fits_batch

SWITCH_SECONDS = 1e-6
"""Threads take turns as often as they can, so that a race that is there is met."""


class AbortedError(Exception):
    """Ends a transaction that is to be given up."""


class WrongError(AssertionError):
    """The library and the model differ."""


def expect(got: Any, expected: np.ndarray[Any, Any], where: str) -> None:
    """Compare an array with the model's."""
    if not same(got, expected):
        got = np.asarray(got)
        raise WrongError(f"{where}: {got.dtype}{got.shape} {got.tolist()}, expected {expected.dtype}{expected.shape} "
                         f"{expected.tolist()}")  # fmt: skip


def parameters_of(spec: dict[str, Any], zarr_format: int) -> dict[str, Any]:
    """Say by keyword what a spec asks for."""
    options: dict[str, Any] = {"shape": spec["shape"], "chunks": spec.get("rectilinear", spec["chunks"])}
    options["dtype"] = np.dtype(numpy_dtype("struct")) if spec["dtype"] == "struct" else spec["dtype"]
    if not spec["shape"]:
        options["chunks"] = ()
    for name in ("shards", "fill_value", "dimension_names", "order", "config"):
        if spec.get(name) is not None:
            options[name] = spec[name]
    if "separator" in spec:
        kind = "v2" if zarr_format == 2 else "default"
        options["chunk_key_encoding"] = {"name": kind, "separator": spec["separator"]}
    options |= codecs_of(spec.get("codec", "default"), zarr_format)
    if "transpose" in spec:
        options["filters"] = [TransposeCodec(order=tuple(spec["transpose"]))]
    return options


def codecs_of(codec: str, zarr_format: int) -> dict[str, Any]:
    """The compressor by its short name."""
    if codec == "default":
        return {}
    if codec == "raw":
        return {"compressors": None}
    if zarr_format == 2:
        import numcodecs

        older = {"gzip": numcodecs.GZip(1), "zstd": numcodecs.Zstd(1), "blosc": numcodecs.Blosc()}
        return {"compressors": older[codec]}
    return {"compressors": {"gzip": GzipCodec(level=1), "zstd": ZstdCodec(level=1), "blosc": BloscCodec()}[codec]}


def older_parameters(options: dict[str, Any]) -> dict[str, Any]:
    """What the functions of the older kind take."""
    return {name: options[name] for name in ("shape", "chunks", "dtype", "fill_value", "order") if name in options}


class Session:
    """A store, its model, and what is open of it."""

    def __init__(self, kind: str, zarr_format: int, folder: Path) -> None:
        self.place, self.model, self.format = Place(kind, folder, zarr_format), Model(), zarr_format
        self.scope: tuple[str, Any] | None = None

    # ------------------------------------------------------------------------------------------ nodes

    def group(self, step: dict[str, Any]) -> tuple[Any, str]:
        """The group by which a step works, and the path of its node from there."""
        path = step.get("path", "")
        if self.scope is not None:
            above = self.scope[0]
            if not above or path == above or path.startswith(above + "/"):
                return self.scope[1], path[len(above) :].strip("/")
        return self.place.root(step["way"]), path

    def node(self, step: dict[str, Any], direct: bool = True) -> Any:
        """The array or group of a step."""
        group, path = self.group(step)
        if direct and step.get("direct") and self.scope is None and step["way"] not in ("held", "pickled"):
            kind = "group" if self.model.nodes[step["path"]].spec is None else "array"
            opener = zarr.open_group if kind == "group" else zarr.open_array
            return opener(self.place.like(step["way"]), path=path, mode="r+")
        return group[path] if path else group

    def run(self, step: Step) -> None:
        """Run a step, unless the model cannot follow it."""
        name, parameters = step
        if self.scope is not None and name != "group_batch" and not fits_batch(step, self.scope[0]):
            return
        try:
            needed = apply(self.model, step)
            if "path" in parameters and name in ("group_batch", "array_batch"):
                self.model.node(parameters["path"], name.partition("_")[0])
        except NotPossibleError:
            return
        getattr(self, f"run_{name}")(parameters, needed)

    def run_create_group(self, step: dict[str, Any], _: Any) -> None:
        (group, path), how = self.group(step), step["how"]
        attributes, overwrite = step["attributes"], step["overwrite"]
        if how == "create_group":
            if step["face"] == "async":
                asyncio.run(group._async_group.create_group(path, attributes=attributes, overwrite=overwrite))
            else:
                group.create_group(path, attributes=attributes, overwrite=overwrite)
        elif how == "require_group":
            group.require_group(path)
        elif how == "create_hierarchy":
            metadata = type(group.metadata)(attributes=attributes, zarr_format=self.format)
            list(group.create_hierarchy({path: metadata}, overwrite=overwrite))
        elif how == "open_group":
            zarr.open_group(self.place.like(step["way"]), path=step["path"], mode="a", attributes=attributes,
                            zarr_format=self.format)  # type: ignore[arg-type]  # fmt: skip
        else:
            zarr.create_group(self.place.like(step["way"]), path=step["path"], attributes=attributes,
                              overwrite=overwrite, zarr_format=self.format)  # type: ignore[arg-type]  # fmt: skip

    def run_create_array(self, step: dict[str, Any], node: Any) -> None:
        (group, path), how = self.group(step), step["how"]
        options = parameters_of(node.spec, self.format)
        more = {"overwrite": step["overwrite"], "attributes": step["attributes"]}
        data: dict[str, Any] = {"data": node.values.copy()}
        if how in ("data", "api_data") and node.spec["dtype"] != "string":
            options = {k: v for k, v in options.items() if k not in ("shape", "dtype")}
        api: dict[str, Any] = {"store": self.place.like(step["way"]), "zarr_format": self.format}
        older = older_parameters(options)
        if how in ("create_array", "data"):
            self.create_member(step, group, path, {**options, **more}, data if how == "data" else {})
        elif how in ("api", "api_data"):
            if how == "api_data" and node.spec["dtype"] == "string":
                options["dtype"], options = "string", {k: v for k, v in options.items() if k != "shape"}
            self.create_from_outside(step, api, {**options, **more}, data if how == "api_data" else {})
        elif how == "full":
            group.full(name=path, overwrite=step["overwrite"], **older)
        elif how == "zeros":
            group.zeros(name=path, overwrite=step["overwrite"], **older)
        elif how == "require_array":
            group.require_array(path, **older)
        elif how == "setitem":
            group[path] = data["data"]
        elif how == "api_array":
            zarr.array(data["data"], path=step["path"], overwrite=step["overwrite"], **api,
                       **{k: v for k, v in older.items() if k not in ("shape", "dtype")})  # fmt: skip
        elif how == "open_array":
            zarr.open_array(path=step["path"], mode="w", **api, **older)[...] = data["data"]
        elif how == "create_dataset":
            group.create_dataset(path, overwrite=step["overwrite"], **older)[...] = data["data"]
        else:
            shards = {"shards": options["shards"]} if "shards" in options else {}
            fill = {"fill_value": options["fill_value"]} if "fill_value" in options else {}
            zarr.from_array(data=data["data"], name=step["path"], overwrite=step["overwrite"],
                            chunks=options["chunks"], **shards, **fill, **api)  # fmt: skip

    def create_member(self, step: Any, group: Any, path: str, options: dict[str, Any], data: dict[str, Any]) -> None:
        if data and "shape" in options:  # text: objects name no data type
            group.create_array(path, **options)[...] = data["data"]
        elif step["face"] == "async":
            asyncio.run(group._async_group.create_array(path, **options, **data))
        else:
            group.create_array(path, **options, **data)

    def create_from_outside(self, step: Any, api: Any, options: dict[str, Any], data: dict[str, Any]) -> None:
        if data and options.get("dtype") == "string":
            made = zarr.create_array(name=step["path"], **api, shape=data["data"].shape, **options)
            made[...] = data["data"]
        elif step["face"] == "async":
            asyncio.run(zarr.api.asynchronous.create_array(name=step["path"], **api, **options, **data))
        else:
            zarr.create_array(name=step["path"], **api, **options, **data)

    def run_delete(self, step: dict[str, Any], _: Any) -> None:
        group, path = self.group(step)
        if step["face"] == "async":
            asyncio.run(group._async_group.delitem(path))
        else:
            del group[path]

    def run_move(self, step: dict[str, Any], _: Any) -> None:
        group, source = self.group(step)
        other, dest = self.group({**step, "path": step["dest"]})
        if self.scope is not None and group is not other:  # one of the two lies outside of the batch's group
            group, source, dest = self.place.root(step["way"]), step["path"], step["dest"]
        if step["face"] == "async":
            asyncio.run(group._async_group.move(source, dest))
        else:
            group.move(source, dest)

    def run_copy(self, step: dict[str, Any], _: Any) -> None:
        root = self.place.root(step["way"])
        zarr.copy(root[step["path"]], root, name=step["dest"])

    # ------------------------------------------------------------------------------------------ elements

    def run_write(self, step: dict[str, Any], written: Any) -> None:
        array, kind, selection = self.node(step), step["kind"], step["selection"]
        if kind == "mask":
            selection = np.random.default_rng(selection).random(step["shape"]) < 0.4
        if step["face"] == "async" and kind == "basic":
            asyncio.run(array.async_array.setitem(selection, written))
        elif kind == "basic":
            array[selection] = written
        elif kind == "mask":
            array.set_mask_selection(selection, written)
        else:
            getattr(array, kind)[selection] = written

    def run_read(self, step: dict[str, Any], expected: Any) -> None:
        array, kind, selection = self.node(step), step["kind"], step["selection"]
        if kind == "mask":
            selection = np.random.default_rng(selection).random(step["shape"]) < 0.4
        got: Any
        if step["face"] == "async" and kind in ("basic", "oindex"):
            face = array.async_array
            read = face.getitem if kind == "basic" else face.oindex.getitem
            got = asyncio.run(self.awaited(read(selection)))
        elif step["out"] and kind == "basic" and expected.dtype != object:
            got = np.empty(expected.shape, expected.dtype)
            array.get_basic_selection(selection, out=got)
        elif kind == "basic":
            got = array[selection]
        elif kind == "mask":
            got = array.get_mask_selection(selection)
        else:
            got = getattr(array, kind)[selection]
        expect(got, expected, f"read of {step['path']}[{selection}]")

    async def awaited(self, coroutine: Any) -> Any:
        """Await what need not be a coroutine."""
        return await coroutine

    def run_read_many(self, step: dict[str, Any], expected: Any) -> None:
        array = self.node(step)
        got = (asyncio.run(array.async_array.read_many(step["selections"])) if step["face"] == "async"
               else array.read_many(step["selections"]))  # fmt: skip
        for one, other, selection in zip(got, expected, step["selections"], strict=True):
            expect(one, other, f"one of many reads of {step['path']}[{selection}]")

    def run_lazy(self, step: dict[str, Any], expected: Any) -> None:
        view = self.node(step).lazy[step["first"]]
        if step["action"] == "write":
            view[step["second"]] = expected
            return
        inner = view.lazy[step["second"]] if hasattr(view, "lazy") else view[step["second"]]
        inner = inner.T if step["action"] == "transposed" else inner
        expect(np.asarray(inner), expected, f"view of {step['path']}")

    def run_append(self, step: dict[str, Any], values: Any) -> None:
        array = self.node(step)
        shape = (asyncio.run(array.async_array.append(values, axis=step["axis"])) if step["face"] == "async"
                 else array.append(values, axis=step["axis"]))  # fmt: skip
        if tuple(shape) != self.model.nodes[step["path"]].values.shape:
            raise WrongError(f"append to {step['path']} returns {shape}")

    def run_resize(self, step: dict[str, Any], _: Any) -> None:
        array = self.node(step)
        if step["face"] == "async":
            asyncio.run(array.async_array.resize(step["new"]))
        else:
            array.resize(step["new"])

    def run_attributes(self, step: dict[str, Any], _: Any) -> None:
        scope, how, key, value = self.scope, step["how"], step["key"], step["value"]
        if step["face"] == "async":
            self.scope = None  # also inside a batch: by an object of its own
        try:
            node = self.node(step)
        finally:
            self.scope = scope
        if how == "delete" and any(node is old for old in (self.place.held, *(scope or ()))):
            root = self.place.root("store")  # an object that was opened before knows the attributes of then
            node = root[step["path"]] if step["path"] else root
        if how == "set":
            node.attrs[key] = value
        elif how == "update":
            node.attrs.update({key: value})
        elif how == "update_attributes":
            node.update_attributes({key: value})
        elif how == "put":
            node.attrs.put({key: value})
        else:
            del node.attrs[key]

    # ------------------------------------------------------------------------------------------ at once

    def run_threads(self, step: dict[str, Any], values: Any) -> None:
        group, path = self.group(step)
        count, action = step["count"], step["action"]

        def write(number: int) -> None:
            for row in range(number, len(values), count):
                group[path][row] = values[row]

        def attributes(number: int) -> None:
            group[path].attrs[f"t{number}"] = number

        def groups(number: int) -> None:
            above = path.rpartition("/")[0]
            (group[above] if above else group).attrs[f"t{number}"] = number

        def consolidate(number: int) -> None:
            attributes(number)
            if not number:
                zarr.consolidate_metadata(self.place.like(step["way"]) if self.scope is None else self.place.store)

        def append(_: int) -> None:
            group[path].append(values)

        def root() -> Any:
            return self.place.root(step["way"]) if self.scope is None else self.scope[1]

        def create(number: int) -> None:
            root().create_array(f"t/t{number}", **SMALL, overwrite=True)[:] = number

        def require(_: int) -> None:
            root().require_group(f"t/r{step['seed']}/g")
            root().require_array(f"t/r{step['seed']}/a", **SMALL)

        work: dict[str, Callable[[int], None]] = {
            "write": write, "attributes": attributes, "groups": groups, "consolidate": consolidate, "append": append,
            "create": create, "require": require,
        }  # fmt: skip
        run_at_once(work[action], count)

    def run_tasks(self, step: dict[str, Any], values: Any) -> None:
        group, path = self.group(step)

        async def all_rows() -> None:
            face = group._async_group
            array = await face.getitem(path)
            batch = {"group": face.batch, "array": array.batch}.get(step["batch"], contextlib.nullcontext)
            async with batch():
                array = await face.getitem(path) if step["batch"] == "group" else array
                await asyncio.gather(*(array.setitem(row, values[row]) for row in range(len(values))))

        asyncio.run(all_rows())

    def run_group_batch(self, step: dict[str, Any], _: Any) -> None:
        group = self.node(step)
        if self.place.kind in FOLDERS and self.place.kind != "local":
            # A path gives a store of another name there: an open group with a copy does not see its changes.
            group = zarr.open_group(self.place.store, path=step["path"], mode="r+", use_consolidated=False)
        options = {} if step["limit"] is None else {"max_bytes": step["limit"]}
        outer = self.scope
        with group.batch(**options):
            self.scope = step["path"], group
            try:
                self.run_all(step["steps"])
            finally:
                self.scope = outer

    def run_array_batch(self, step: dict[str, Any], _: Any) -> None:
        array, outer = self.node(step), self.scope
        options = {} if step["limit"] is None else {"max_bytes": step["limit"]}
        with array.batch(**options):
            self.scope = step["path"], ScopedArray(array)
            try:
                self.run_all([inner for inner in step["steps"] if inner[1]["path"] == step["path"]])
            finally:
                self.scope = outer

    def run_transaction(self, step: dict[str, Any], _: Any) -> None:
        before = self.model.copy()
        with contextlib.suppress(AbortedError), zarr.transaction(self.place.store) as changes:
            with self.inside(changes):
                self.run_all(step["steps"])
                self.check_all(self.place.root("held"))
            now, self.model = self.model, before
            self.check_all(zarr.open_group(self.place.store, mode="r"))  # nobody else sees a change yet
            if not step["commit"]:
                raise AbortedError
            self.model = now

    @contextlib.contextmanager
    def inside(self, changes: Any) -> Iterator[None]:
        """Work on a transaction for a while."""
        place, store, held = self.place, self.place.store, self.place.held
        place.store, place.held, place.in_transaction = changes, changes.group(), True
        try:
            yield
        finally:
            place.store, place.held, place.in_transaction = store, held, False

    def run_conflict(self, step: dict[str, Any], needed: Any) -> None:
        before, written = needed
        try:
            with zarr.transaction(self.place.store) as changes:
                with self.inside(changes):
                    self.run_read(step, before)
                self.run_write(step, written)
                with self.inside(changes):
                    self.run_write(step, before)
        except TransactionConflictError:
            return
        raise WrongError(f"no conflict: a transaction wrote what another writer had changed in {step['path']}")

    def run_all(self, steps: list[Step]) -> None:
        """Run steps one after the other; an error names its step."""
        for step in steps:
            try:
                self.run(step)
            except AbortedError:
                raise
            except Exception as error:
                if not hasattr(error, "step"):
                    error.step = step  # type: ignore[attr-defined]
                    error.add_note(f"at step {step!r}")
                raise

    # ------------------------------------------------------------------------------------------ the whole

    def run_consolidate(self, step: dict[str, Any], _: Any) -> None:
        if self.scope is not None:
            zarr.consolidate_metadata(self.place.store)
            return
        found = zarr.consolidate_metadata(self.place.like(step["way"]))
        self.check_all(found)
        self.check_all(zarr.open_consolidated(self.place.like(step["way"])))

    def run_members(self, step: dict[str, Any], expected: list[str]) -> None:
        node, face = self.node(step), step["face"]

        async def listed() -> list[str]:
            return [name async for name, _ in node._async_group.members(max_depth=None)]

        got = sorted(asyncio.run(listed()) if face == "async" else [name for name, _ in node.members(max_depth=None)])
        if got != expected or not all(name in node for name in expected):
            raise WrongError(f"members of {step['path']!r}: {got}, expected {expected}")
        direct = sorted(name for name in expected if "/" not in name)
        if sorted(node.keys()) != direct or len(node) != len(direct):
            raise WrongError(f"keys of {step['path']!r}: {sorted(node.keys())}, expected {direct}")

    def run_check(self, step: dict[str, Any], _: Any) -> None:
        self.check_all(self.place.root(step["way"]))

    def run_reopen(self, step: dict[str, Any], _: Any) -> None:
        if self.scope is None and not self.place.in_transaction:
            self.place.reopen()

    def check_all(self, root: Any) -> None:
        """Compare every node below a root with the model."""
        found = {"": root, **dict(root.members(max_depth=None))}
        if sorted(found) != sorted(self.model.nodes):
            raise WrongError(f"nodes {sorted(found)}, expected {sorted(self.model.nodes)}")
        for path, node in self.model.nodes.items():
            if found[path] is self.place.held:
                continue  # an object that was opened before shows the attributes of then
            if found[path].attrs.asdict() != node.attributes:
                raise WrongError(f"attributes of {path!r}: {found[path].attrs.asdict()}, expected {node.attributes}")
            if node.spec is not None:
                expect(found[path][...], node.values, f"all of {path!r}")


class ScopedArray:
    """Gives the array of a batch where a step looks for it in a group."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value


def run_at_once(work: Callable[[int], None], count: int) -> None:
    """Run work in threads that take turns very often; raise the first error."""
    errors: list[BaseException] = []
    gate = threading.Barrier(count)

    def run(number: int) -> None:
        gate.wait()
        try:
            work(number)
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]


def run_program(kind: str, zarr_format: int, steps: list[Step], folder: Path, dump: Path | None = None) -> Model:
    """Run a program in a folder of its own; raise where it differs from the model. Return the model as it ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = Session(kind, zarr_format, folder)
        try:
            session.run_all(steps)
            session.check_all(zarr.open_group(session.place.store, mode="r"))
            if dump is not None:
                session.place.dump(dump)
        finally:
            session.place.close()
        if kind in ("local", "zip", "sqlite", "lmdb"):  # and what a new store finds there
            session.place.store = type(session.place.store)(str(session.place.path), read_only=True)
            session.check_all(zarr.open_group(session.place.store, mode="r"))
            session.place.close()
    return session.model
