"""Read arrays with another library and compare them: ``python left_behind.py LIBRARY FOLDER``.

FOLDER holds folders of arrays of format 3, beside each of them a file ``<name>.npy`` with its values. Prints one JSON
object: the names of the arrays that were read, and what is wrong with the others.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def opened(library: str, folder: Path) -> Any:
    """The values of an array."""
    if library == "tensorstore":
        import tensorstore as ts

        kvstore = {"driver": "file", "path": f"{folder}/"}
        return ts.open({"driver": "zarr3", "kvstore": kvstore}, open=True).result().read().result()
    import zarr

    if library == "zarrs":
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True})
    return zarr.open_array(str(folder), mode="r")[...]


def verdict(library: str, place: Path) -> str:
    """Empty where the values are right, bit for bit."""
    expected = np.load(place)
    try:
        found = np.asarray(opened(library, place.with_suffix("")))
    except Exception as error:  # the test lists what could not be read
        return f"{type(error).__name__}: {error}"
    alike = found.dtype.newbyteorder("=") == expected.dtype
    same = alike and found.astype(expected.dtype).tobytes() == expected.tobytes()
    return "" if same else f"{found.dtype}: {int((found != expected).sum())} elements differ"


if __name__ == "__main__":
    places = sorted(Path(sys.argv[2]).glob("*.npy"))
    print(json.dumps({place.stem: verdict(sys.argv[1], place) for place in places}))
