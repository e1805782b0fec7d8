"""One small face over every library that is compared: create, open, read, write.

A peer is chosen by name and imports only its own library, so that one script runs in each library's environment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

Spec = dict[str, Any]  # shape, chunks, dtype, codec ("raw", "zstd", "blosc"), shards (or None), zarr_format, fill


class Zarr3:
    """This library and zarr-python 3: the same calls, which is the point of a drop-in."""

    def __init__(self, pipeline: str | None = None) -> None:
        import zarr

        self.zarr = zarr
        if pipeline == "fused":
            zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.FusedCodecPipeline"})
            zarr.config.set({"codec_pipeline.max_workers": 2})
        if pipeline == "zarrs":
            import zarrs  # noqa: F401

            zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})

    def memory(self) -> Any:
        return self.zarr.storage.MemoryStore()

    def create(self, where: Any, spec: Spec) -> Any:
        return self.zarr.create_array(
            str(where) if isinstance(where, Path) else where,
            shape=spec["shape"],
            chunks=spec["chunks"],
            shards=spec.get("shards"),
            dtype=spec["dtype"],
            compressors=self.compressor(spec),
            zarr_format=spec.get("zarr_format", 3),
            fill_value=spec.get("fill", 0),
            overwrite=True,
        )

    def compressor(self, spec: Spec) -> Any:
        if spec["codec"] == "raw":
            return None
        if spec.get("zarr_format", 3) == 2:
            import numcodecs

            return numcodecs.Zstd(level=3) if spec["codec"] == "zstd" else numcodecs.Blosc("lz4", 5, 1)
        if spec["codec"] == "zstd":
            return self.zarr.codecs.ZstdCodec(level=3)
        return self.zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")

    def open(self, where: Any) -> Any:
        return self.zarr.open_array(str(where) if isinstance(where, Path) else where, mode="r+")

    def read(self, array: Any, selection: Any = ...) -> Any:
        return array[selection]

    def write(self, array: Any, selection: Any, value: Any) -> None:
        array[selection] = value

    def oindex(self, array: Any, selection: Any) -> Any:
        return array.oindex[selection]

    def vindex(self, array: Any, selection: Any) -> Any:
        return array.vindex[selection]

    def mask(self, array: Any, mask: Any) -> Any:
        return array.get_mask_selection(mask)

    def group(self, where: Path) -> Any:
        return self.zarr.open_group(str(where), mode="a")


class Zarr2(Zarr3):
    """zarr-python 2.18: format 2 only, no shards."""

    def memory(self) -> Any:
        return self.zarr.storage.KVStore({})

    def create(self, where: Any, spec: Spec) -> Any:
        import numcodecs

        codec = {"raw": None, "zstd": numcodecs.Zstd(level=3), "blosc": numcodecs.Blosc("lz4", 5, 1)}[spec["codec"]]
        text = spec["dtype"] == "T"
        return self.zarr.create(
            store=str(where) if isinstance(where, Path) else where,
            shape=spec["shape"],
            chunks=spec["chunks"],
            dtype=object if text else spec["dtype"],
            object_codec=numcodecs.VLenUTF8() if text else None,
            compressor=codec,
            fill_value="" if text else 0,
            overwrite=True,
        )


class TensorStore:
    """tensorstore, tuned: copy and file threads of this machine, no fsync."""

    def __init__(self) -> None:
        import tensorstore as ts

        self.ts = ts
        self.context = ts.Context(
            {
                "data_copy_concurrency": {"limit": 2},
                "file_io_concurrency": {"limit": 4},
                "file_io_sync": False,
                "cache_pool": {"total_bytes_limit": 0},
            }
        )

    def memory(self) -> str:
        return "memory"

    def codecs(self, spec: Spec) -> list[Any]:
        import numpy as np

        size = np.dtype(spec["dtype"]).itemsize
        tail: list[Any] = {
            "raw": [],
            "zstd": [{"name": "zstd", "configuration": {"level": 3}}],
            "blosc": [
                {
                    "name": "blosc",
                    "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": size},
                }
            ],
        }[spec["codec"]]
        return [{"name": "bytes", "configuration": {"endian": "little"}}, *tail]

    def kvstore(self, where: Any) -> Any:
        return {"driver": "memory"} if where == "memory" else {"driver": "file", "path": str(where) + "/"}

    def create(self, where: Any, spec: Spec) -> Any:
        if spec.get("zarr_format", 3) == 2:
            return self._create_v2(where, spec)
        import numpy as np

        codecs = self.codecs(spec)
        chunks = spec["chunks"]
        if spec.get("shards"):
            index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
            sharding = {"chunk_shape": chunks, "codecs": codecs, "index_codecs": index}
            codecs = [{"name": "sharding_indexed", "configuration": sharding}]
            chunks = spec["shards"]
        metadata = {
            "shape": spec["shape"],
            "data_type": np.dtype(spec["dtype"]).name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
            "codecs": codecs,
        }
        request = {"driver": "zarr3", "kvstore": self.kvstore(where), "metadata": metadata}
        return self.ts.open(request, create=True, delete_existing=True, context=self.context).result()

    def _create_v2(self, where: Any, spec: Spec) -> Any:
        import numpy as np

        metadata = {
            "shape": spec["shape"],
            "chunks": spec["chunks"],
            "dtype": np.dtype(spec["dtype"]).str,
            "compressor": None,
        }
        request = {"driver": "zarr", "kvstore": self.kvstore(where), "metadata": metadata}
        return self.ts.open(request, create=True, delete_existing=True, context=self.context).result()

    def open(self, where: Any) -> Any:
        driver = "zarr3" if (Path(where) / "zarr.json").exists() else "zarr"
        return self.ts.open({"driver": driver, "kvstore": self.kvstore(where)}, context=self.context).result()

    def read(self, array: Any, selection: Any = ...) -> Any:
        return array[selection].read().result()

    def write(self, array: Any, selection: Any, value: Any) -> None:
        array[selection].write(value).result()

    def oindex(self, array: Any, selection: Any) -> Any:
        return array.oindex[selection].read().result()

    def vindex(self, array: Any, selection: Any) -> Any:
        return array.vindex[selection].read().result()

    def mask(self, array: Any, mask: Any) -> Any:
        return array[mask].read().result()


class H5py:
    """h5py: one file, its chunk cache of 1 MiB."""

    def __init__(self) -> None:
        import h5py

        self.h5py = h5py

    def create(self, where: Any, spec: Spec) -> Any:
        Path(where).parent.mkdir(parents=True, exist_ok=True)
        file = self.h5py.File(str(where) + ".h5", "w")
        dtype = self.h5py.string_dtype() if spec["dtype"] == "T" else spec["dtype"]
        return file.create_dataset("data", shape=spec["shape"], chunks=spec["chunks"], dtype=dtype)

    def open(self, where: Any) -> Any:
        return self.h5py.File(str(where) + ".h5", "r+")["data"]

    def read(self, array: Any, selection: Any = ...) -> Any:
        return array[selection]

    def write(self, array: Any, selection: Any, value: Any) -> None:
        array[selection] = value


def make_peer(name: str) -> Any:
    """Return the peer of that name: ours, z34, fused, zarrs, z2, ts, h5py, limit."""
    if name in ("ours", "z34"):
        return Zarr3()
    if name == "limit":
        from limit import Limit

        return Limit()
    if name in ("fused", "zarrs"):
        return Zarr3(name)
    return {"z2": Zarr2, "ts": TensorStore, "h5py": H5py}[name]()
