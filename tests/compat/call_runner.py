"""Make the calls of ``call_table.py`` with whatever ``zarr`` this interpreter has, and print as JSON what came of each.

    python -P tests/compat/call_runner.py answers.json [every] [word of the calls]

Runs with zarr-python too, so it uses only what both have. Each call has an empty folder of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any
from zlib import crc32

import numcodecs
import numpy as np

import zarr
from zarr.core.group import GroupMetadata
from zarr.core.sync import sync
from zarr.errors import ZarrUserWarning  # noqa: F401
from zarr.storage import LocalStore, MemoryStore, StorePath

Call = tuple[str, str, str]
LONGEST = 20  # seconds a call may take
LARGEST = 400  # elements of an array that are looked at
_loop = asyncio.new_event_loop()
_held: contextlib.ExitStack = contextlib.ExitStack()


# ------------------------------------------------------------------------------------------------ names of programs
def run(coroutine: Any) -> Any:
    """Await in an event loop of this thread."""
    return _loop.run_until_complete(coroutine)


async def _collected(iterator: Any) -> list[Any]:
    return [item async for item in iterator]


def settled(value: Any) -> Any:
    """Return what an awaitable or an asynchronous iterator gives in the end, and other values as they are."""
    if inspect.isasyncgen(value) or (hasattr(value, "__aiter__") and not isinstance(value, zarr.AsyncGroup)):
        return run(_collected(value))
    return run(value) if inspect.isawaitable(value) else value


def hold(context: Any) -> None:
    """Enter a context that is left after the call."""
    _held.enter_context(context)


def sorted_pairs(pairs: Any) -> Any:
    """Return named nodes in the order of their names."""
    return sorted(pairs, key=lambda pair: pair[0])


class DuckArray:
    """What has a shape, a data type and ``__array__``, and is no array of NumPy, as those of dask."""

    shape, dtype, chunks, ndim, size = (3,), np.dtype("i2"), ((2, 1),), 1, 3

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(3, dtype=dtype or "i2")

    def __getitem__(self, selection: Any) -> Any:
        return np.arange(3, dtype="i2")[selection]

    def __len__(self) -> int:
        return 3


def AsyncArrayOf(array: Any) -> Any:
    """Return the asynchronous face of an array."""
    return array.async_array


def AsyncGroupOf(group: Any) -> Any:
    """Return the asynchronous face of a group."""
    return run(zarr.api.asynchronous.open_group(group.store_path, mode="r+"))


def _array(store: Any, form: int, **more: Any) -> Any:
    z = zarr.create((5, 4), dtype="i4", chunks=(2, 2), store=store, zarr_format=form, attributes={"q": 1}, **more)
    z[:] = np.arange(20).reshape(5, 4)
    return z


def array2(store: Any = None, **more: Any) -> Any:
    """Return an array of format 2."""
    return _array(MemoryStore() if store is None else store, 2, **more)


def array3(store: Any = None, **more: Any) -> Any:
    """Return an array of format 3."""
    return _array(MemoryStore() if store is None else store, 3, **more)


def sharded() -> Any:
    """Return a sharded array."""
    z = zarr.create_array(MemoryStore(), shape=(5, 4), dtype="i4", chunks=(2, 1), shards=(4, 2))
    z[:] = np.arange(20).reshape(5, 4)
    return z


def line(form: int) -> Any:
    """Return an array of one dimension."""
    return zarr.array(np.arange(5), chunks=2, store=MemoryStore(), zarr_format=form)


def zerod(form: int) -> Any:
    """Return an array of no dimensions."""
    return zarr.array(np.array(3), store=MemoryStore(), zarr_format=form)


def fields(form: int) -> Any:
    """Return an array of structures."""
    data = np.array([(1, 2.0), (3, 4.0), (5, 6.0), (7, 8.0)], dtype=[("a", "i4"), ("b", "f8")])
    return zarr.array(data, chunks=2, store=MemoryStore(), zarr_format=form)


def hollow(form: int) -> Any:
    """Return an array without elements."""
    return zarr.create((0, 4), dtype="i4", chunks=(2, 2), store=MemoryStore(), zarr_format=form)


def named(form: int) -> Any:
    """Return an array in a group."""
    return tree(form)["sub/b"]


def texts(form: int) -> Any:
    """Return an array of text."""
    return zarr.array(np.array(["a", "bb", ""], dtype="T"), chunks=2, store=MemoryStore(), zarr_format=form)


def ragged() -> Any:
    """Return an array whose last chunk is longer than what is left."""
    return zarr.create_array(MemoryStore(), data=np.arange(7.0), chunks=(3,))


def rectilinear() -> Any:
    """Return an array with chunks of several lengths."""
    return zarr.create_array(MemoryStore(), data=np.arange(5), chunks=((2, 3),))


def tree(form: int, store: Any = None) -> Any:
    """Return a group with members."""
    root = zarr.create_group(MemoryStore() if store is None else store, zarr_format=form, attributes={"q": 1})
    root.create_array("a", data=np.arange(20, dtype="i4").reshape(5, 4), chunks=(2, 2), attributes={"w": 2})
    below = root.create_group("sub", attributes={"e": 3})
    below.create_array("b", data=np.arange(3.0))
    return root


def filled(content: str, store: Any) -> Any:
    """Put something in a store."""
    form = 2 if content.endswith("2") else 3
    if content.startswith("array"):
        _array(store, form)
    elif content.startswith(("group", "consolidated")):
        tree(form, store)
        if content.startswith("consolidated"):
            zarr.consolidate_metadata(store)
    elif content == "both":
        array3(store)
        array2(store)
    elif content == "broken":
        target = store if isinstance(store, MemoryStore) else LocalStore(store)
        sync(target.set("zarr.json", zarr.core.buffer.default_buffer_prototype().buffer.from_bytes(b"{nonsense")))
    return store


# ------------------------------------------------------------------------------------------------------ plain values
def look_at(value: Any, depth: int = 0) -> Any:
    """Turn the value of a call into JSON."""
    if isinstance(value, np.dtype):
        return ["dtype", str(value)]
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | slice):
        return [type(value).__name__, repr(value)]
    if isinstance(value, np.generic | np.ndarray):
        shown = value.tolist() if value.size <= LARGEST else "…"
        return [type(value).__name__, str(value.dtype), list(value.shape), repr(shown)]
    if isinstance(value, zarr.Array | zarr.AsyncArray):
        return look_at_array(value)
    if isinstance(value, zarr.Group | zarr.AsyncGroup):
        return look_at_group(value, depth)
    if depth > 4:
        return "…"
    if isinstance(value, dict):
        return ["dict", [[look_at(k, depth + 1), look_at(v, depth + 1)] for k, v in value.items()]]
    if inspect.isgenerator(value) or type(value).__name__.endswith(("_iterator", "map", "ItemsView", "KeysView")):
        return ["iterator", [look_at(item, depth + 1) for item in in_order(value)]]
    if isinstance(value, tuple | list):
        return [type(value).__name__, [look_at(item, depth + 1) for item in in_order(value)]]
    if hasattr(value, "to_dict") and hasattr(value, "zarr_format"):
        return ["document", look_at(value.to_dict(), depth + 1)]
    if type(value).__name__ in ("ArrayInfo", "GroupInfo"):
        return [type(value).__name__, repr(value).replace(" \n", "\n").splitlines()]
    return type(value).__name__


def in_order(items: Any) -> list[Any]:
    """Return members of a group, or their names, in the order of names: zarr-python lists them as they come."""
    found = list(items)
    if all(isinstance(item, str) for item in found):
        return sorted(found)
    pairs = all(isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) for item in found)
    return sorted(found, key=lambda pair: pair[0]) if pairs else found


def look_at_array(array: Any) -> Any:
    """Describe an array: what its properties say, and its elements."""
    face = type(array).__name__
    sync_array = zarr.Array(array) if isinstance(array, zarr.AsyncArray) else array
    seen: dict[str, Any] = {"face": face}
    for name in (
        "shape",
        "dtype",
        "chunks",
        "shards",
        "order",
        "fill_value",
        "name",
        "path",
        "basename",
        "nchunks",
        "read_only",
    ):
        try:
            seen[name] = look_at(getattr(sync_array, name))
        except Exception as error:
            seen[name] = type(error).__name__
    config = sync_array.config if hasattr(sync_array, "config") else None
    seen["config"] = [getattr(config, "order", None), bool(getattr(config, "write_empty_chunks", None))]
    seen["attrs"] = look_at(dict(sync_array.attrs))
    seen["document"] = document(sync_array.metadata)
    seen["store"] = type(sync_array.store).__name__
    if sync_array.size <= LARGEST:
        try:
            seen["values"] = look_at(sync_array[...])
        except Exception as error:
            seen["values"] = type(error).__name__
    return seen


def document(metadata: Any) -> Any:
    """Return what would be stored."""
    from_buffers = metadata.to_buffer_dict(zarr.core.buffer.default_buffer_prototype())
    return {key: json.loads(value.to_bytes()) for key, value in sorted(from_buffers.items())}


def look_at_group(group: Any, depth: int) -> Any:
    """Describe a group: its document and its members."""
    face = type(group).__name__
    sync_group = zarr.Group(group) if isinstance(group, zarr.AsyncGroup) else group
    seen = {name: look_at(getattr(sync_group, name)) for name in ("name", "path", "basename", "read_only")}
    seen |= {"face": face, "store": type(sync_group.store).__name__, "document": document(sync_group.metadata)}
    if depth < 3:
        members = sorted(sync_group.members(), key=lambda pair: pair[0])
        seen["members"] = [[name, look_at(member, depth + 1)] for name, member in members]
    return seen


def look_at_error(error: BaseException) -> dict[str, Any]:
    """Name the classes of an error, its own first."""
    return {"error": [cls.__name__ for cls in type(error).__mro__], "says": str(error)[:300]}


# ---------------------------------------------------------------------------------------------------------- one call
NAMES: dict[str, Any] = {
    "np": np, "zarr": zarr, "numcodecs": numcodecs, "Path": Path, "MemoryStore": MemoryStore, "LocalStore": LocalStore,
    "StorePath": StorePath, "GroupMetadata": GroupMetadata,
    **{function.__name__: function for function in (
        run, settled, hold, sorted_pairs, DuckArray, AsyncArrayOf, AsyncGroupOf, array2, array3, sharded, line, zerod,
        fields, hollow, named, texts, ragged, rectilinear, tree, filled)},
}  # fmt: skip


def _evaluated(text: str, names: dict[str, Any]) -> Any:
    try:
        code = compile(text, "<call>", "eval")
    except SyntaxError:
        exec(compile(text, "<call>", "exec"), names)
        return None
    return settled(eval(code, names))


def made(call: Call) -> dict[str, Any]:
    """Make one call in an empty folder."""
    setup, text, look = call
    names = dict(NAMES)
    # Off in zarr-python unless it is asked for, on here.
    hold(zarr.config.set({"array.rectilinear_chunks": True}))
    answer: dict[str, Any] = {}
    with _held, warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("ignore")
        try:
            exec(setup, names)
        except Exception as error:
            return {"setup": look_at_error(error)}
        warnings.simplefilter("always")
        try:
            value = _evaluated(text, names)
            kept = list(shown)
            answer["value"] = look_at(_evaluated(look, names) if look else value)
        except Exception as error:
            kept = list(shown)
            answer |= look_at_error(error)
    told = [w for w in kept if not issubclass(w.category, ResourceWarning) and "never awaited" not in str(w.message)]
    answer["warned"] = sorted({(*[c.__name__ for c in w.category.__mro__][:3], str(w.message)[:60]) for w in told})
    return answer


def _too_long(*_: Any) -> None:
    raise TimeoutError("took too long")


def all_made(calls: list[Call]) -> list[dict[str, Any]]:
    """Make all calls, each in a folder that is removed after it."""
    signal.signal(signal.SIGALRM, _too_long)
    asyncio.set_event_loop(_loop)
    home, answers = tempfile.mkdtemp(), []
    for number, call in enumerate(calls):
        folder = os.path.join(home, str(number))
        os.mkdir(folder)
        os.chdir(folder)
        signal.alarm(LONGEST)
        try:
            answers.append(made(call))
        except BaseException as error:  # whatever a call does, the others are made
            if isinstance(error, KeyboardInterrupt):
                raise
            answers.append(look_at_error(error))
        finally:
            signal.alarm(0)
            os.chdir(home)
        shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
    return answers


def chosen(calls: list[Any], every: int, word: str = "") -> list[Any]:
    """Return about one in ``every`` of the calls, always the same, and only those with a word if one is given."""
    return [c for c in calls if crc32(c.name.encode()) % every == 0 and word in c.name]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from call_table import table  # type: ignore[import-not-found]

    selected = chosen(table(), int((sys.argv[2:] or ["1"])[0]), "".join(sys.argv[3:4]))
    place = Path(sys.argv[1]).resolve()
    place.write_text(json.dumps({call.name: answer for call, answer in zip(selected, all_made(selected), strict=True)}))
    print(json.dumps(len(selected)))
