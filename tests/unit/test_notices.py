"""Warnings name the line of the program that called the library."""

import ast
import asyncio
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import zarr
from zarr.errors import ZarrUserWarning
from zarr.notices import warn_once
from zarr.storage import MemoryStore, WrapperStore

LIBRARY = Path(zarr.__file__).parent


class Remote(WrapperStore[Any]):
    """A store that is only async: operations run on the background loop."""

    async def get(self, *args: Any, **kwargs: Any) -> Any:
        return await self._store.get(*args, **kwargs)


@pytest.fixture
def damaged() -> MemoryStore:
    """A store with a group that has a member that is no node."""
    store = MemoryStore()
    zarr.group(store)
    store._store_dict["z/foo"] = store._store_dict["zarr.json"]
    return store


def shown_by(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        call()
    assert shown, "nothing warned"
    return shown


def line_of(call: Callable[[], Any]) -> int:
    return call.__code__.co_firstlineno


CALLS: list[Callable[[], Any]] = [
    lambda: zarr.create_array({}, shape=4, chunks=2, dtype="S3"),
    lambda: zarr.create(shape=3, store={}, order="F", zarr_format=3),
    lambda: zarr.create(shape=3, store={}, write_empty_chunks=True),
    lambda: zarr.create(shape=3, store={}, object_codec="x", zarr_format=3),
    lambda: zarr.create(shape=3, store={}, synchronizer=object()),
    lambda: zarr.create_array({}, shape=100, chunks=10, shards="auto", dtype="i4"),
    lambda: zarr.create_array({}, shape=4, dtype="i4", zarr_format=2).compressor,
    lambda: zarr.consolidate_metadata(zarr.create_array({}, name="x", shape=1, dtype="i1").store),
    lambda: zarr.tree(zarr.group()),
    lambda: zarr.codecs.BytesCodec(endian=zarr.codecs.Endian.little),
    lambda: zarr.group(zarr_format=3).create_array("x", shape=3, dtype="i4", compressor=None),
]


@pytest.mark.parametrize("call", CALLS, ids=[str(number) for number in range(len(CALLS))])
def test_the_line_of_the_program(call: Callable[[], Any]) -> None:
    for each in shown_by(call):
        assert (each.filename, each.lineno) == (__file__, line_of(call))


@pytest.mark.parametrize("wrap", [lambda store: store, Remote])
def test_from_steps_and_from_the_background_loop(damaged: MemoryStore, wrap: Callable[[Any], Any]) -> None:
    group = zarr.open_group(wrap(damaged))

    def call() -> Any:
        return group.nmembers()

    for each in shown_by(call):
        assert "z is not recognized" in str(each.message)
        assert (each.filename, each.lineno) == (__file__, line_of(call) + 1)


@pytest.mark.parametrize("kind", ["direct", "awaited", "in threads"])
def test_from_coroutines(damaged: MemoryStore, tmp_path: Path, kind: str) -> None:
    store: Any = Remote(damaged) if kind == "awaited" else damaged
    if kind == "in threads":
        store = zarr.storage.LocalStore(tmp_path)
        zarr.copy_store(damaged, store)

    async def count(group: Any) -> None:
        await group.nmembers()

    async def call() -> None:
        group = await zarr.api.asynchronous.open_group(store)
        await asyncio.gather(count(group), count(group))

    for each in shown_by(lambda: asyncio.run(call())):
        assert (each.filename, each.lineno) == (__file__, line_of(count) + 1)


def test_from_a_thread_of_the_program(damaged: MemoryStore) -> None:
    def call() -> Any:
        return zarr.open_group(damaged).nmembers()

    with ThreadPoolExecutor(1) as pool:
        for each in shown_by(lambda: pool.submit(call).result()):
            assert (each.filename, each.lineno) == (__file__, line_of(call) + 1)


def test_of_no_line_of_the_program_the_warning_is_shown_all_the_same(damaged: MemoryStore) -> None:
    group = zarr.open_group(damaged)
    with ThreadPoolExecutor(1) as pool:
        shown = shown_by(lambda: pool.submit(group.nmembers).result())
    assert "z is not recognized" in str(shown[0].message)


@pytest.fixture
def default_filters() -> Iterator[list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        texts: list[str] = []
        warnings.showwarning = lambda message, *args, **kwargs: texts.append(str(message))  # type: ignore[assignment]
        yield texts


def test_once_in_a_process_whatever_the_line(default_filters: list[str]) -> None:
    warn_once("take care of once", ZarrUserWarning)
    warn_once("take care of once", ZarrUserWarning)
    for _ in range(3):
        warn_once("take care of once", ZarrUserWarning)
    assert default_filters == ["take care of once"]
    warnings.simplefilter("error")
    with pytest.raises(ZarrUserWarning):
        warn_once("take care of once", ZarrUserWarning)


def test_filters_by_module_see_the_library_and_deprecations_the_program(default_filters: list[str]) -> None:
    warnings.filterwarnings("ignore", module="zarr")
    zarr.create(shape=3, store={}, write_empty_chunks=True)
    assert default_filters == []
    assert zarr.create_array({}, shape=4, dtype="i4", zarr_format=2).compressor is not None
    assert len(default_filters) == 1
    warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
    assert zarr.create_array({}, shape=4, dtype="i4", zarr_format=2).compressor is not None
    assert len(default_filters) == 1


def test_all_warnings_of_the_library_go_through_one_place() -> None:
    direct = []
    for path in LIBRARY.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "warnings":
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom) and node.module == "warnings":
                names = [alias.name for alias in node.names]
            if {"warn", "warn_explicit"}.intersection(names):
                direct.append(path.relative_to(LIBRARY).as_posix())
    assert direct == ["notices.py"]
    assert "zarr.notices" in sys.modules
