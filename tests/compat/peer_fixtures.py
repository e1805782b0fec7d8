"""Read arrays with other libraries: ``python peer_fixtures.py FOLDER`` prints path -> library -> digest.

The folder's arrays are found by their documents. A digest is that of the elements in C order, little-endian.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np


def digest(data: Any) -> str:
    """The digest of an array's shape and elements."""
    array = np.asarray(data)
    if array.dtype.kind in "OT":
        raw = json.dumps([str(item) for item in array.ravel()]).encode()
    else:
        raw = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    return hashlib.sha256(repr(array.shape).encode() + raw).hexdigest()


def array_folders(top: Path) -> list[str]:
    """The paths of all arrays of format 2 and 3 below a folder."""
    found = []
    for root, _, files in os.walk(top):
        is_v3 = "zarr.json" in files and json.loads((Path(root) / "zarr.json").read_text()).get("node_type") == "array"
        if is_v3 or ".zarray" in files:
            found.append(str(Path(root).relative_to(top)))
    return sorted(found)


def by_tensorstore(path: Path) -> Any:
    """All elements by tensorstore."""
    import tensorstore as ts

    driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}}
    return ts.open(spec, read=True).result().read().result()


def by_zarr(path: Path) -> Any:
    """All elements by zarr-python."""
    import zarr

    return zarr.open_array(str(path), mode="r")[...]


def by_zarrs(path: Path) -> Any:
    """All elements by the pipeline of zarrs; it passes on to nobody what it cannot read."""
    import zarrs  # noqa: F401

    import zarr

    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}):
        return zarr.open_array(str(path), mode="r")[...]


def main(top: Path) -> None:
    """Print what each reader finds in each array that it can read."""
    found: dict[str, dict[str, str]] = {}
    for path in array_folders(top):
        for name, read in (("tensorstore", by_tensorstore), ("zarr", by_zarr), ("zarrs", by_zarrs)):
            try:
                found.setdefault(path, {})[name] = digest(read(top / path))
            except Exception:
                continue
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
