"""Files that are no store: the first bytes of their formats, and how they are named in errors."""

from __future__ import annotations

from typing import Final

HDF5: Final = b"\x89HDF\r\n\x1a\n"
HDF5_STARTS: Final = (0, 512, 1024, 2048)
"""Possible places of the signature: a file may begin with bytes of its user."""
TIFF: Final = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
NPY: Final = b"\x93NUMPY"
PARQUET: Final = b"PAR1"
NETCDF3: Final = (b"CDF\x01", b"CDF\x02", b"CDF\x05")
_CONVERT: Final = "convert it with zarr.tools.convert, or read it with "
_FORMATS: Final = (
    (NETCDF3, "a NetCDF-3 file", "read it with xarray.open_dataset"),
    (TIFF, "a TIFF file", f"{_CONVERT}tifffile.imread"),
    ((NPY,), "a file of NumPy", f"{_CONVERT}numpy.load"),
    ((b"GRIB",), "a GRIB file", "read it with xarray.open_dataset (engine cfgrib)"),
    ((b"SIMPLE  =",), "a FITS file", "read it with astropy.io.fits.open"),
    ((b"\x1f\x8b",), "a file packed by gzip", "unpack it first"),
    ((PARQUET,), "a Parquet file", f"{_CONVERT}pyarrow.parquet.read_table"),
)


def name_foreign_file(path: str) -> str:
    """Return a sentence with the format of a file and advice; empty if its first bytes are unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "image.zarr"
    >>> file.write_bytes(bytes.fromhex("49492a00"))
    4
    >>> name_foreign_file(str(file))
    'this is a TIFF file, no Zarr store: convert it with zarr.tools.convert, or read it with tifffile.imread'
    """
    try:
        with open(path, "rb") as file:
            start = file.read(HDF5_STARTS[-1] + len(HDF5))
    except OSError:  # an error here must not hide the first one
        return ""
    if any(start.startswith(HDF5, offset) for offset in HDF5_STARTS):
        what, way = "an HDF5 or NetCDF-4 file", f"{_CONVERT}h5py.File or xarray.open_dataset"
    elif start.startswith(b"PK\x03\x04") and b".npy" in start[30 : 30 + start[26]]:  # the name of the first member
        what, way = "a file of NumPy", f"{_CONVERT}numpy.load"
    else:
        found = (row for row in _FORMATS if start.startswith(row[0]))
        _, what, way = next(found, ((), "", ""))
    return f"this is {what}, no Zarr store: {way}" if what else ""
