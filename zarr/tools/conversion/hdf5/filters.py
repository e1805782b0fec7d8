"""Translate the filters of HDF5 to codecs of Zarr, and back.

The readers and the writer of HDF5 call it. It handles the description of filters only; h5py runs them.
"""

from __future__ import annotations

from typing import Any

import h5py

from zarr.tools.conversion.codecs import Document

_NAMES = {32000: "lzf", 4: "szip", 5: "nbit", 6: "scaleoffset"}


def filters_of(dataset: h5py.Dataset) -> list[tuple[int, tuple[int, ...]]]:
    """Return the numbers of the filters of a dataset with their values, in the order of writing."""
    plist = dataset.id.get_create_plist()
    found = (plist.get_filter(number) for number in range(plist.get_nfilters()))
    return [(code, values) for code, _, values, _ in found]


def filter_name(dataset: h5py.Dataset, code: int) -> str:
    """Return the name of a filter."""
    if code in _NAMES:
        return _NAMES[code]
    plist = dataset.id.get_create_plist()
    found = [plist.get_filter(number) for number in range(plist.get_nfilters())]
    names = [name.decode(errors="replace").partition(";")[0] for number, _, _, name in found if number == code]
    return f"{names[0] or 'unnamed'} ({code})"


def codecs_of_filters(dataset: h5py.Dataset) -> tuple[Any, list[str]]:
    """Return documents of codecs of format 3 for the filters of a dataset, and the names of filters without a codec.

    Shuffled elements under deflate become the codec blosc with zlib, which other readers know, too. If a filter has no
    codec, all codecs are chosen anew.
    """
    found: list[Document] = []
    for code, values in filters_of(dataset):
        document = _exact_codec(dataset, code, values)
        if document is None and (values or code not in (5, 6)):
            return "auto", [filter_name(dataset, code)]
        if code == 1 and found and found[-1]["name"] == "numcodecs.shuffle":
            document = _blosc("zlib", values[0], "shuffle", found.pop()["configuration"]["elementsize"])
        elif code == 1:
            document = {"name": "gzip", "configuration": {"level": values[0]}}
        elif code == 3:
            document = {"name": "crc32c"}
        found += [] if document is None else [document]
    return found, []


def _blosc(name: str, level: int, shuffle: str, size: int) -> Document:
    settings = {"typesize": size, "cname": name, "clevel": level, "shuffle": shuffle, "blocksize": 0}
    return {"name": "blosc", "configuration": settings}


def _exact_codec(dataset: h5py.Dataset, code: int, values: tuple[int, ...]) -> Document | None:
    """Return the document of a codec that reads the same bytes that a filter wrote; None if there is none."""
    if code == 1:
        return {"name": "numcodecs.zlib", "configuration": {"level": values[0]}}
    if code == 2:
        size = int(values[0]) if values else dataset.dtype.itemsize
        return {"name": "numcodecs.shuffle", "configuration": {"elementsize": size}}
    if code == 3:
        return {"name": "numcodecs.fletcher32", "configuration": {}}
    if code == 32015:
        return {"name": "zstd", "configuration": {"level": values[0] if values else 3, "checksum": False}}
    return None


def exact_codecs(dataset: h5py.Dataset) -> list[Document] | None:
    """Return documents of codecs that read the same bytes that filters wrote; None if there are none."""
    found = [_exact_codec(dataset, code, values) for code, values in filters_of(dataset)]
    known = [document for document in found if document is not None]
    return known if len(known) == len(found) else None


def filters_for(documents: Any, lost: list[str]) -> dict[str, Any]:
    """Return the parameters of ``create_dataset`` for codecs.

    Parameters
    ----------
    documents : sequence of dict, or "auto"
        Documents of format 3. ``"auto"``: shuffled elements under deflate.
    lost : list of str
        Receives the names of codecs that are replaced by others, or by none.

    Examples
    --------
    >>> filters_for([{"name": "gzip", "configuration": {"level": 3}}], [])
    {'compression': 'gzip', 'compression_opts': 3}
    """
    if isinstance(documents, str):
        return {"shuffle": True, "compression": "gzip", "compression_opts": 4}
    found: dict[str, Any] = {}
    for document in documents or ():
        name, settings = document["name"].removeprefix("numcodecs."), document.get("configuration") or {}
        if name in ("gzip", "zlib"):
            found |= {"compression": "gzip", "compression_opts": min(9, max(0, settings.get("level", 4)))}
        elif name == "blosc":
            found |= {"compression": "gzip", "compression_opts": settings["clevel"]}
            found |= {"shuffle": True} if settings["shuffle"] != "noshuffle" else {}
            if (settings["cname"], settings["shuffle"]) not in (("zlib", "shuffle"), ("zlib", "noshuffle")):
                lost.append(f"blosc with {settings['cname']}")
        elif name == "shuffle":
            found["shuffle"] = True
        elif name in ("crc32c", "fletcher32"):
            found["fletcher32"] = True
        else:
            lost.append(name)
            if name in ("zstd", "lz4", "bz2", "lzma"):
                found |= {"shuffle": True, "compression": "gzip", "compression_opts": 4}
    return found
