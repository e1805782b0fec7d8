"""Code that only import paths for other libraries need: the implementations behind ``zarr.core`` and zarr 2 modules.

May import: everything; only ``zarr.core`` and the top-level modules of zarr-python 2 import it.
Read first: ``version3/indexing.py``; each file names the libraries that need it.
"""
