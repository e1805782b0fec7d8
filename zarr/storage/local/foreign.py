"""Tell files of other formats, for the error that somebody gets who opens one as a store."""

from __future__ import annotations

from typing import Final

_HDF5: Final = b"\x89HDF\r\n\x1a\n"
_HDF5_STARTS: Final = (0, 512, 1024, 2048)
"""Where the signature may stand: a file may begin with bytes of its user."""
_FORMATS: Final = (
    ((b"CDF\x01", b"CDF\x02", b"CDF\x05"), "a NetCDF-3 file", "xarray.open_dataset"),
    ((b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"), "a TIFF file", "tifffile.imread"),
)


def name_foreign_file(path: str) -> str:
    """Return a sentence that says which format a file has and what reads it; empty if its first bytes tell nothing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "image.zarr"
    >>> file.write_bytes(bytes.fromhex("49492a00"))
    4
    >>> name_foreign_file(str(file))
    'this is a TIFF file, no Zarr store: read it with tifffile.imread'
    """
    try:
        with open(path, "rb") as file:
            start = file.read(_HDF5_STARTS[-1] + len(_HDF5))
    except OSError:  # the error that is being made matters, not this one
        return ""
    if any(start.startswith(_HDF5, offset) for offset in _HDF5_STARTS):
        what, reader = "an HDF5 or NetCDF-4 file", "h5py.File or xarray.open_dataset"
    else:
        found = (row for row in _FORMATS if start.startswith(row[0]))
        _, what, reader = next(found, ((), "", ""))
    return f"this is {what}, no Zarr store: read it with {reader}" if what else ""
