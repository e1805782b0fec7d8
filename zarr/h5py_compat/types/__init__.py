"""h5py's data types and how their values lie in zarr arrays.

May import: the public API of ``zarr``, ``zarr.h5py_compat``.
Read first: ``dtypes.py``.
"""
