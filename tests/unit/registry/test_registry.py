from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

import zarr.registry as registry
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec, CodecPipeline
from zarr.buffer import cpu
from zarr.errors import MetadataValidationError, UnknownCodecError, UnnamedCodecError, ZarrUserWarning
from zarr.registry import tables
from zarr.settings import BadConfigError, config


@pytest.fixture(autouse=True)
def _same_tables_afterwards() -> Iterator[None]:
    kept = {name: (dict(value), dict(value.builtins)) for name, value in tables._codec_registries.items()}
    pipelines = dict(tables._pipeline_registry)
    yield
    for name in list(tables._codec_registries):
        if name not in kept:
            del tables._codec_registries[name]
        else:
            entry = tables._codec_registries[name]
            entry.clear()
            entry.update(kept[name][0])
            entry.builtins = kept[name][1]
    tables._pipeline_registry.clear()
    tables._pipeline_registry.update(pipelines)


class First(BytesBytesCodec):
    pass


class Second(BytesBytesCodec):
    pass


def test_the_only_implementation_is_used_at_once() -> None:
    registry.register_codec("example.only", First)
    assert registry.get_codec_class("example.only") is First


def test_several_implementations_need_the_configuration() -> None:
    registry.register_codec("example.two", First)
    registry.register_codec("example.two", Second)
    with pytest.warns(ZarrUserWarning, match=r"example\.two"):
        assert registry.get_codec_class("example.two") is Second
    with config.set({"codecs.example.two": registry.fully_qualified_name(First)}):
        assert registry.get_codec_class("example.two") is First


def test_a_qualname_is_what_the_configuration_says() -> None:
    registry.register_codec("example.named", First, qualname="some.where")
    with config.set({"codecs.example.named": "some.where"}):
        assert registry.get_codec_class("example.named") is First
    with (
        config.set({"codecs.example.named": "else.where"}),
        pytest.raises(BadConfigError, match=r"'else\.where', which is not registered.*some\.where"),
    ):
        registry.get_codec_class("example.named")


def test_registering_does_not_replace_a_built_in_until_configured() -> None:
    built_in = registry.get_codec_class("bytes")
    registry.register_codec("bytes", First, qualname="mine")
    assert registry.get_codec_class("bytes") is built_in
    with config.set({"codecs.bytes": "mine"}):
        assert registry.get_codec_class("bytes") is First


@pytest.mark.parametrize(
    ("name", "package"), [("imagecodecs_png", "virtual-tiff"), ("omfiles.x", "omfiles")]
)
def test_an_unknown_codec_names_the_package(name: str, package: str) -> None:
    with pytest.raises(UnknownCodecError, match=f"codec '{name}' is not available.*{package}"):
        registry.get_codec_class(name)
    with pytest.raises(TypeError, match="name of a codec"):
        registry.get_codec_class(5)  # type: ignore[arg-type]


def test_numcodecs() -> None:
    assert registry.get_numcodec({"id": "zlib", "level": 3}).get_config() == {"id": "zlib", "level": 3}  # type: ignore[typeddict-unknown-key]
    with pytest.raises(UnknownCodecError, match="codec 'nope' is not available"):
        registry.get_numcodec({"id": "nope"})
    with pytest.raises(UnnamedCodecError, match="codec not available") as raised:
        registry.get_numcodec({})  # type: ignore[typeddict-item]
    assert not isinstance(raised.value, UnknownCodecError)  # no package has a codec without a name
    assert isinstance(raised.value, MetadataValidationError)


def test_packages_that_bring_a_missing_codec() -> None:
    with pytest.raises(UnknownCodecError, match="codec: imagecodecs-zarr, virtual-tiff"):
        registry.get_codec_class("imagecodecs_jpeg2k")
    with pytest.raises(UnknownCodecError, match=r"with zarr.$"):
        registry.get_codec_class("imagecodecs_none_such")
    with pytest.raises(UnknownCodecError, match="codec: wavpack-numcodecs"):
        registry.get_numcodec({"id": "wavpack"})
    with pytest.raises(UnknownCodecError, match="codec: imagecodecs-numcodecs"):
        registry.get_numcodec({"id": "imagecodecs_any"})
    assert registry._packages_for_codec("crc32c", zarr_format=2) == ("numcodecs[crc32c]",)


def test_codecs_of_their_json_form() -> None:
    made = registry._parse_bytes_bytes_codec({"name": "gzip", "configuration": {"level": 1}})
    assert made.to_dict() == {"name": "gzip", "configuration": {"level": 1}}
    assert registry._parse_bytes_bytes_codec(made) is made
    with pytest.raises(TypeError, match="dict representation of an ArrayBytesCodec"):
        registry._parse_array_bytes_codec({"name": "gzip", "configuration": {"level": 1}})
    with pytest.raises(TypeError, match="Expected an ArrayArrayCodec"):
        registry._parse_array_array_codec(5)  # type: ignore[arg-type]
    assert isinstance(registry._resolve_codec("bytes"), ArrayBytesCodec)


def _offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    groups: dict[str, tuple[EntryPoint, ...]] = {}
    for point in points:
        groups[point.group] = (*groups.get(point.group, ()), point)
    monkeypatch.setattr(tables, "entry_points_by_group", lambda: groups)
    tables.collect_entry_points.cache_clear()


@pytest.fixture
def _collect_again() -> Iterator[None]:
    yield
    tables.collect_entry_points.cache_clear()


@pytest.mark.usefixtures("_collect_again")
def test_entry_points_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    here = f"{__name__}:First"
    _offer(
        monkeypatch,
        EntryPoint("example.flat", here, "zarr.codecs"),
        EntryPoint("anything", here, "zarr.codecs.example.nested"),
    )
    monkeypatch.setitem(sys.modules, __name__, sys.modules[First.__module__])
    assert registry.get_codec_class("example.flat") is First
    assert registry.get_codec_class("example.nested") is First


@pytest.mark.usefixtures("_collect_again")
def test_a_broken_plugin_is_named_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, __name__, sys.modules[First.__module__])
    _offer(
        monkeypatch,
        EntryPoint("example.shared", "no_such_module_at_all:Codec", "zarr.codecs"),
        EntryPoint("example.shared", f"{__name__}:First", "zarr.codecs"),
    )
    with pytest.warns(ZarrUserWarning, match=r"example\.shared.*no_such_module_at_all.*ModuleNotFoundError"):
        assert registry.get_codec_class("example.shared") is First
    assert registry.get_codec_class("example.shared") is First


def test_pipelines() -> None:
    class Mine(CodecPipeline):
        pass

    registry.register_pipeline(Mine)
    with config.set({"codec_pipeline.path": registry.fully_qualified_name(Mine)}):
        assert registry.get_pipeline_class() is Mine
    with config.set({"codec_pipeline.path": "no.such"}), pytest.raises(BadConfigError, match=r"no\.such"):
        registry.get_pipeline_class()
    for name in ("Batched", "Fused"):
        with config.set({"codec_pipeline.path": f"zarr.core.codec_pipeline.{name}CodecPipeline"}):
            assert registry.get_pipeline_class().__name__ == f"{name}CodecPipeline"


def test_buffers() -> None:
    class Mine(cpu.Buffer):
        pass

    registry.register_buffer(Mine, qualname="example.Mine")
    with config.set({"buffer": "example.Mine"}):
        assert registry.get_buffer_class() is Mine
    assert registry.get_buffer_class() is cpu.Buffer
    with config.set({"buffer": "zarr.core.buffer.cpu.Buffer", "ndbuffer": "zarr.core.buffer.cpu.NDBuffer"}):
        assert registry.get_buffer_class() is cpu.Buffer
        assert registry.get_ndbuffer_class() is cpu.NDBuffer


def test_names_of_metadata() -> None:
    assert registry.get_chunk_key_encoding_class("default").__name__ == "DefaultChunkKeyEncoding"
    assert registry.get_chunk_grid_class("regular").__name__ == "RegularChunkGridMetadata"
    with pytest.raises(KeyError, match=r"'nope' not found in registered chunk key encodings: \['default'.* 'fanout'"):
        registry.get_chunk_key_encoding_class("nope")
    with pytest.raises(KeyError, match="nope"):
        registry.get_chunk_grid_class("nope")
    with pytest.raises(KeyError, match="nope"):
        registry.get_storage_transformer_class("nope")


def test_stores_by_scheme() -> None:
    registry.register_store("example-scheme", dict)
    factory: Any = registry.get_store_factory("example-scheme")
    assert factory is dict
    assert registry.get_store_factory("no-such-scheme") is None


def test_importing_the_registry_imports_no_codec() -> None:
    # Without the front door, which imports all rooms.
    code = """
import importlib.util, sys, types, zarr_core
before = set(sys.modules)  # the core that is written in Python decodes with numcodecs
package = types.ModuleType("zarr")
package.__path__ = importlib.util.find_spec("zarr").submodule_search_locations
sys.modules["zarr"] = package
import zarr.registry, zarr.dtype, zarr.abc.store
rooms = ("zarr.codecs", "numcodecs", "zarr.storage", "zarr.metadata")
print([name for name in set(sys.modules) - before if name.startswith(rooms)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_data_type_registry_is_offered() -> None:
    assert registry.data_type_registry.match_dtype(np.dtype("i4")).to_json(3) == "int32"
    with pytest.raises(AttributeError, match="no_such_name"):
        registry.no_such_name  # noqa: B018


@pytest.mark.parametrize("whole", [True, False], ids=["whole name", "part by part"])
def test_a_dotted_name_is_configured_whole_or_part_by_part(whole: bool) -> None:
    class Other(registry.get_codec_class("numcodecs.bz2")):  # type: ignore[misc]
        pass

    registry.register_codec("numcodecs.bz2", Other, qualname="other.Bz2")
    codecs: dict[str, str] = config.get("codecs")
    assert codecs["numcodecs.bz2"] == "zarr.codecs.numcodecs.BZ2"
    changed: dict[str, Any] = {"codecs": {**codecs, "numcodecs.bz2": "other.Bz2"}}
    with config.set(changed if whole else {"codecs.numcodecs.bz2": "other.Bz2"}):
        assert registry.get_codec_class("numcodecs.bz2") is Other
    assert registry.get_codec_class("numcodecs.bz2") is not Other
