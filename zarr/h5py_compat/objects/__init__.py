"""The classes of h5py: file, group, dataset, attributes, named types.

May import: the public API of ``zarr``, ``zarr.h5py_compat``.
Read first: ``base.py``, then ``file.py``.
"""
