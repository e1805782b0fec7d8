"""The stores of zarr-python 2, by their names and with their parameters, for programs that were written for it.

``zarr.DirectoryStore`` and the others come from here. A node created in such a store without a format has format 2, and
its documents are written as zarr-python 2 wrote them.

May import: ``zarr.storage``. Read first: ``stores.py``.
"""
