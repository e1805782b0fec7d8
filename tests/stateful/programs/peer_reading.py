"""Read what programs stored, with zarr-python and tensorstore: ``python peer_reading.py FOLDER``.

FOLDER holds ``expected.pickle``, a list of (program, folder, {path: (attributes, array or None, what it is)}). Prints
one JSON object: how many nodes each library read, and what was wrong. Imports nothing of the programs' modules: it is
run by an interpreter that has the other libraries.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore

import zarr


def same(got: Any, expected: Any) -> bool:
    """Whether two arrays are equal bit for bit, whatever their byte orders."""
    got = np.asarray(got, dtype=expected.dtype if expected.ndim == 0 and expected.dtype.kind in "SU" else None)
    if got.shape != expected.shape:
        return False
    if expected.dtype == object:
        return bool(got.tolist() == expected.tolist())
    native = expected.dtype.newbyteorder("=")
    bits = expected.astype(native).tobytes()
    return bool(got.dtype.newbyteorder("=") == native and got.astype(native).tobytes() == bits)


def read_with_tensorstore(folder: Path, path: str) -> Any:
    """Read an array of a folder."""
    place = folder / path
    driver = "zarr3" if (place / "zarr.json").exists() else "zarr"
    request = {"driver": driver, "kvstore": {"driver": "file", "path": f"{place}/"}}
    return tensorstore.open(request).result().read().result()


def differences(folder: Path, expected: dict[str, Any], counts: dict[str, int]) -> list[str]:
    """Compare all nodes of one hierarchy."""
    wrong = []
    root = zarr.open_group(str(folder), mode="r", use_consolidated=False)
    found = {"": root, **dict(root.members(max_depth=None))}
    if sorted(found) != sorted(expected):
        return [f"nodes {sorted(found)}, expected {sorted(expected)}"]
    for path, (attributes, values, numeric) in expected.items():
        node = found[path]
        counts["zarr"] += 1
        if dict(node.attrs) != attributes:
            wrong.append(f"attributes of {path!r}: {dict(node.attrs)}, expected {attributes}")
        if values is None:
            continue
        if not same(got := node[...], values):
            wrong.append(f"zarr reads {path!r} as {np.asarray(got).tolist()}, expected {values.tolist()}")
        if numeric:
            counts["tensorstore"] += 1
            if not same(got := read_with_tensorstore(folder, path), values):
                wrong.append(f"tensorstore reads {path!r} as {np.asarray(got).tolist()}, expected {values.tolist()}")
    return wrong


def main() -> None:
    """Read all programs of a folder."""
    folder = Path(sys.argv[1])
    zarr.config.set({"array.rectilinear_chunks": True})
    counts, wrong = {"zarr": 0, "tensorstore": 0}, {}
    for name, place, expected in pickle.loads((folder / "expected.pickle").read_bytes()):
        try:
            found = differences(folder / place, expected, counts)
        except Exception as error:  # the test names the program
            found = [f"{type(error).__name__}: {str(error)[:300]}"]
        if found:
            wrong[name] = found
    print(json.dumps({"counts": counts, "wrong": wrong}))


if __name__ == "__main__":
    main()
