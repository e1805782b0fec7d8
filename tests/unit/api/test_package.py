"""What stands in the package itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import zarr


def test_everything_named_is_there() -> None:
    for name in zarr.__all__:
        assert getattr(zarr, name) is not None


def test_front_rooms_are_loaded_when_asked_for() -> None:
    code = (
        "import sys, zarr\n"
        "late = {'zarr.core', 'zarr.testing', 'hypothesis', 'pytest', 'fsspec', 'obstore', 'cupy'}\n"
        "assert not late & set(sys.modules)\n"
        "zarr.core.buffer.Buffer, zarr.storage.MemoryStore, zarr.codecs.GzipCodec, zarr.abc.store.Store, zarr.errors\n"
        "zarr.experimental.ChunkGrid, zarr.registry, zarr.dtype.Int8, zarr.types.AnyArray, zarr.buffer.cpu\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nowhere"):
        zarr.nowhere  # noqa: B018


def test_debug_info(capsys: pytest.CaptureFixture[str]) -> None:
    zarr.print_debug_info()
    text = capsys.readouterr().out
    for word in ("platform: ", "python: ", f"zarr: {zarr.__version__}", "**Native codecs:**", "numcodecs: "):
        assert word in text


def test_log_level_and_format(capsys: pytest.CaptureFixture[str]) -> None:
    logger = __import__("logging").getLogger("zarr")
    before: Any = (logger.level, list(logger.handlers))
    try:
        zarr.set_log_level("INFO")
        zarr.set_format("<%(message)s>")
        logger.info("hello")
        logger.debug("not this")
        with pytest.raises(ValueError, match="LOUD"):
            zarr.set_log_level("LOUD")  # type: ignore[arg-type]
    finally:
        logger.setLevel(before[0])
        logger.handlers[:] = before[1]
    captured = capsys.readouterr().err
    assert "<hello>" in captured or captured == ""
    assert "not this" not in captured
