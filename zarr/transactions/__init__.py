"""Many changes of arrays and groups that become visible together, or not at all.

May import: everything up to the groups, and the functions that open them.
Read first: ``transaction.py``; the changes themselves are kept by ``zarr.storage.wrappers.overlay``.
"""

from __future__ import annotations

from zarr.transactions.transaction import Transaction, transaction

__all__ = ["Transaction", "transaction"]
