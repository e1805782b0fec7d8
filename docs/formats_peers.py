"""Ask one other library what it reads and writes: ``python formats_peers.py LIBRARY FOLDER``; see formats_table.py.

FOLDER/read holds arrays to read, FOLDER/LIBRARY documents of arrays to write, FOLDER/layouts.json places of whole
hierarchies. Prints one JSON object: the version, and for each case "r" where the values were read, "w" where they were
written without an error; for each layout "r".
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import formats_cases as cases
import formats_layouts as layouts


def zarr_opener(strict_zarrs: bool = False) -> Callable[[Path, cases.Case], Any]:
    """Open with zarr-python; with zarrs as its pipeline, which then must not hand anything back."""
    import zarr

    zarr.config.set({"array.rectilinear_chunks": True})
    if strict_zarrs:
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True})
    return lambda folder, case: zarr.open_array(str(folder), mode="r+", config={"write_empty_chunks": True})


def zarrs_opener() -> Callable[[Path, cases.Case], Any]:
    """Open with zarrs itself; with zarr-python and its pipeline where that is the only way."""
    from formats_zarrs import NotAskedDirectlyError, ZarrsArray

    otherwise = zarr_opener(strict_zarrs=True)

    def open_array(folder: Path, case: cases.Case) -> Any:
        try:
            return ZarrsArray(folder, case)
        except NotAskedDirectlyError:
            return otherwise(folder, case)

    return open_array


def tensorstore_opener() -> Callable[[Path, cases.Case], Any]:
    """Open with tensorstore."""
    import tensorstore as ts

    def open_array(folder: Path, case: cases.Case) -> Any:
        driver = "zarr" if case.document["zarr_format"] == 2 else "zarr3"
        spec = {
            "driver": driver, "kvstore": {"driver": "file", "path": f"{folder}/"},
            "store_data_equal_to_fill_value": True,
        }  # fmt: skip
        return ts.open(spec, open=True).result()

    return open_array


def keeps(opener: Callable[[Path, cases.Case], Any], folder: Path, case: cases.Case) -> bool:
    """Return True if a library itself reads what it writes by the document of a case."""
    try:
        folder.mkdir(parents=True)
        (folder / case.file).write_text(json.dumps(case.document))
        array = opener(folder, case)
        dtype = getattr(array.dtype, "numpy_dtype", array.dtype)
        array[...] = cases.values_for(np.dtype(dtype), case)
        return cases.same(np.asarray(opener(folder, case)[...]), cases.values_for(np.dtype(dtype), case))
    except Exception:
        return False


def ask(library: str, opener: Callable[[Path, cases.Case], Any], folder: Path, case: cases.Case) -> str:
    """The answer to one case; "x" to one of random parameters that the library has no way with of its own."""
    if case.section == "Random" and not keeps(opener, folder / f"{library}-itself" / case.folder, case):
        return "x"
    try:
        array = opener(folder / "read" / case.folder, case)
        found = np.asarray(array[...])
        dtype = array.dtype.numpy_dtype if library == "tensorstore" else array.dtype
        expected = cases.values_for(np.dtype(dtype), case)
        if not cases.same(found, expected):
            return ""
    except Exception:
        return ""
    try:
        opener(folder / library / case.folder, case)[...] = expected
    except Exception:
        return "r"
    return "rw"


def tensorstore_specs(place: str) -> list[Any]:
    """All ways to ask tensorstore for the array ``a`` of a hierarchy: which one fits, the user must know."""
    drivers, path = ("zarr3", "zarr", "n5"), place.removeprefix("file://").removesuffix("|zip:")
    if place.endswith("|zip:"):
        return [f"{place}a/|{driver}:" for driver in ("zarr3", "zarr2")]
    base: dict[str, Any] = {"driver": "file", "path": f"{path}/a/"}
    if path.endswith(".zip"):
        base = {"driver": "zip", "base": {"driver": "file", "path": path}, "path": "a/"}
    return [{"driver": driver, "kvstore": base} for driver in drivers]


def reads_layout(library: str, place: Any) -> bool:
    """Return True if a library reads the array ``a`` of a hierarchy, given its path or URL."""
    if library == "tensorstore":
        import tensorstore as ts

        for spec in tensorstore_specs(place):
            try:
                found = ts.open(spec, open=True).result().read().result()
            except Exception:
                continue
            found = found.T if isinstance(spec, dict) and spec["driver"] == "n5" else found
            if np.array_equal(found, layouts.VALUES):
                return True
        return False
    zarr_opener(library == "zarrs")
    import zarr

    try:
        place = zarr.storage.ZipStore(place, mode="r") if place.endswith(".zip") else place
        if str(place).endswith((".json", ".parq")):  # by the file system that fsspec has for such tables
            options = {"fo": place, "remote_protocol": "file", "asynchronous": True}
            place = zarr.storage.FsspecStore.from_url("reference://", storage_options=options, read_only=True)
        return np.array_equal(np.asarray(zarr.open_group(place, mode="r")["a"][...]), layouts.VALUES)
    except Exception:
        return False


def ask_layouts(library: str, places: dict[str, str]) -> dict[str, str]:
    """The answers about layouts: "r" where the values were read."""
    return {name: "r" if reads_layout(library, place) else "" for name, place in places.items()}


def main(library: str, folder: str) -> None:
    """Ask everything."""
    package = "zarr" if library == "zarr-python" else library
    answers: dict[str, str] = {}
    # The library is loaded once, and each case is a process of its own: a library may end it.
    openers = {"tensorstore": tensorstore_opener, "zarrs": zarrs_opener, "zarr-python": zarr_opener}
    opener = openers[library]()
    fork = multiprocessing.get_context("fork")
    for asked in json.loads((Path(folder) / "cases.json").read_text()):
        case = cases.Case(*asked)
        near, far = fork.Pipe()
        child = fork.Process(target=lambda case=case, end=far: end.send(ask(library, opener, Path(folder), case)))
        child.start()
        far.close()
        try:
            answers[case.folder] = near.recv() if near.poll(8) else ""
        except EOFError:
            answers[case.folder] = ""
        child.kill()
        child.join()
    places = json.loads((Path(folder) / "layouts.json").read_text())
    said = {"version": f"{library} {version(package)}", "cases": answers, "layouts": ask_layouts(library, places)}
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:3])
