from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

from zarr.settings import CODEC_CLASSES, Config, config


def test_defaults_are_readable_by_dotted_key() -> None:
    assert config.get("default_zarr_format") == 3
    assert config.get("array.order") == "C"
    assert config.get("codecs.bytes") == "zarr.codecs.bytes.BytesCodec"
    assert config.get("codecs")["numcodecs.zlib"] == "zarr.codecs.numcodecs.Zlib"
    assert config.get("codec_pipeline.path") == "zarr.core.codec_pipeline.BatchedCodecPipeline"
    assert sum(name.startswith("numcodecs.") for name in CODEC_CLASSES) == 21


def test_set_is_undone_by_the_context_manager() -> None:
    with config.set({"array.order": "F", "async.concurrency": 3}):
        assert config.get("array.order") == "F"
        assert config.get("async.concurrency") == 3
    assert config.get("array.order") == "C"


def test_set_lasts_until_reset() -> None:
    config.set({"array.write_empty_chunks": True})
    assert config.get("array.write_empty_chunks") is True
    config.reset()
    assert config.get("array.write_empty_chunks") is False


def test_enable_gpu_names_both_classes() -> None:
    with config.enable_gpu():
        assert config.get("buffer") == "zarr.buffer.gpu.Buffer"
        assert config.get("ndbuffer") == "zarr.buffer.gpu.NDBuffer"
    assert config.get("buffer") == "zarr.buffer.cpu.Buffer"


def test_removed_key_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"array\.v3_default_filters\.numeric"):
        config.set({"array.v3_default_filters.numeric": []})


def test_unknown_key() -> None:
    with pytest.raises(KeyError):
        config.get("no.such.key")
    assert config.get("no.such.key", 7) == 7


def test_config_survives_pickling_with_its_values() -> None:
    with config.set({"array.order": "F"}):
        copy = pickle.loads(pickle.dumps(config))
    assert isinstance(copy, Config)
    assert copy.get("array.order") == "F"
    assert config.get("array.order") == "C"
    copy.reset()
    assert copy.get("array.order") == "C"


def test_environment_variables_are_read() -> None:
    code = "from zarr.settings import config; print(config.get('array.order'), config.get('async.concurrency'))"
    environment = {**os.environ, "ZARR_ARRAY__ORDER": "F", "ZARR_ASYNC__CONCURRENCY": "5"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["F", "5"]
