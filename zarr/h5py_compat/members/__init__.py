"""What lies in a group: names, links, order, walks, copies.

May import: the public API of ``zarr``, ``zarr.h5py_compat``.
Read first: ``links.py``.
"""
