"""Implementations behind ``zarr.util``, ``zarr.meta`` and ``zarr.indexing``: functions of zarr-python 2.

May import: everything; only those three modules import it. The stores of zarr-python 2 are in
``zarr.storage.version2``.
Read first: any file; each is independent.
"""
