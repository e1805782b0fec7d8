"""The formats of files that can be converted: how each is recognised, and which module reads and writes it."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from zarr._lazy import load, load_extra
from zarr.storage.foreign_files import HDF5, HDF5_STARTS, NETCDF3, NPY, PARQUET, TIFF

UNLIMITED: Final = "that the dimension is unlimited: each array of Zarr can be resized"
"""A loss that hides nothing of a file."""


class Format(NamedTuple):
    """A format of files.

    Parameters
    ----------
    name : str
        The name in ``convert(…, to=name)``.
    title : str
        The name for people.
    suffixes : tuple of str
        Suffixes of file names, in lower case. The longest that fits determines the format.
    magic : tuple of bytes
        The possible first bytes of a file.
    library, extra : str
        The required package, and the extra that installs it; empty for none.
    reader, writer, referrer : str
        Functions as ``"module:function"`` below ``zarr.tools.conversion``: ``reader(path, losses)`` returns contents,
        ``writer(contents, path, losses)`` writes them, ``referrer(path, name, losses)`` returns a table of references
        to the file by a name; empty if there is none.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    magic: tuple[bytes, ...]
    library: str
    extra: str
    reader: str
    writer: str
    referrer: str = ""


_TIFFS, _TILES = "images.tiff:read_tiff", "images.tiff_references:references_of_tiff"
_HDF5S, _CHUNKS = "hdf5.reading:read_hdf5", "hdf5.references:references_of_hdf5"

FORMATS: Final = {
    row.name: row
    for row in (
        Format("hdf5", "HDF5", (".h5", ".hdf5", ".hdf", ".he5"), (HDF5,), "h5py", "hdf5", _HDF5S,
               "hdf5.writing:write_hdf5", _CHUNKS),
        Format("netcdf", "NetCDF-4", (".nc", ".nc4", ".netcdf", ".cdf"), (HDF5,), "h5netcdf", "hdf5",
               _HDF5S, "hdf5.netcdf:write_netcdf", _CHUNKS),
        Format("npy", "NumPy (npy)", (".npy",), (NPY,), "", "", "numpy_files:read_npy",
               "numpy_files:write_npy"),
        Format("npz", "NumPy (npz)", (".npz",), (), "", "", "numpy_files:read_npz", "numpy_files:write_npz"),
        Format("tiff", "TIFF", (".tif", ".tiff"), TIFF, "tifffile", "tiff", _TIFFS, "images.tiff_writing:write_tiff",
               _TILES),
        Format("ome-tiff", "OME-TIFF", (".ome.tif", ".ome.tiff", ".ome.tf8", ".ome.btf"), (), "tifffile", "tiff",
               _TIFFS, "images.tiff_writing:write_ome_tiff", _TILES),
        Format("geotiff", "GeoTIFF", (".gtif", ".gtiff", ".geo.tif"), (), "rasterio", "geo",
               _TIFFS, "images.geotiff_writing:write_geotiff", _TILES),
        Format("parquet", "Parquet", (".parquet", ".parq"), (PARQUET,), "pyarrow", "arrow",
               "tables.columns:read_parquet", "tables.writing:write_parquet"),
        Format("csv", "CSV", (".csv", ".tsv"), (), "pyarrow", "arrow",
               "tables.columns:read_csv", "tables.writing:write_csv"),
    )
}  # fmt: skip
"""The table of formats, by name. If several formats begin in the same way, the first one is used."""


def format_named(name: str) -> Format:
    """Return a row of the table.

    Raises
    ------
    ValueError
        If there is no such format; the message lists all formats.

    Examples
    --------
    >>> format_named("npy").suffixes
    ('.npy',)
    """
    if name not in FORMATS:
        raise ValueError(f"there is no format {name!r}: there are {', '.join(FORMATS)} and zarr")
    return FORMATS[name]


def format_of_name(path: str) -> Format | None:
    """Return the format for the suffix of a file name; None if it is unknown.

    Examples
    --------
    >>> format_of_name("x.OME.TIF").name, format_of_name("x.zarr")
    ('ome-tiff', None)
    """
    name = path.lower()
    found = [(len(end), row) for row in FORMATS.values() for end in row.suffixes if name.endswith(end)]
    return max(found, key=lambda each: each[0])[1] if found else None


def format_of_file(path: str) -> Format | None:
    """Return the format of an existing file: by its first bytes, else by the suffix of its name; None if unknown.

    Raises
    ------
    ValueError
        If it is NetCDF of versions 1 to 3, which is no HDF5.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npy")
    ...     np.save(path, np.arange(3))
    ...     format_of_file(path).name
    'npy'
    """
    named = format_of_name(path)
    with open(path, "rb") as file:
        start = file.read(max(HDF5_STARTS) + 8)
    if start.startswith(NETCDF3):
        raise ValueError(
            f"{path} is a NetCDF file of the classic format: copy it to NetCDF-4 by "
            "nccopy -k nc4 first, or read it with xarray.open_dataset"
        )
    found = [row for row in FORMATS.values() if any(_begins(start, magic) for magic in row.magic)]
    if named in found or (named is not None and not named.magic and (not found or named.reader == found[0].reader)):
        return named
    return found[0] if found else None


def _begins(start: bytes, magic: bytes) -> bool:
    places = HDF5_STARTS if magic == HDF5 else (0,)
    return any(start[place : place + len(magic)] == magic for place in places)


def function_of(row: Format, role: Literal["reader", "writer", "referrer"]) -> Any:
    """Return a function of a format, of the type that :class:`Format` says.

    Raises
    ------
    ImportError
        If the required library is missing; the message names the extra.
    """
    # NetCDF-4 is read as HDF5.
    library = "h5py" if row.extra == "hdf5" and role != "writer" else row.library
    if library:
        load_extra(library, row.extra, f"{'writing' if role == 'writer' else 'reading'} {row.title}")
    module, _, name = getattr(row, role).partition(":")
    return getattr(load(f"zarr.tools.conversion.{module}"), name)
