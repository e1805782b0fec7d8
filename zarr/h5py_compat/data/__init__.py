"""Elements of a dataset: creation, filters, selections, transfer, dimensions.

May import: the public API of ``zarr``, ``zarr.h5py_compat``.
Read first: ``creation.py``.
"""
