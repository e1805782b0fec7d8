"""Transactions: changes of arrays and groups that become visible together, or not at all.

May import: everything up to ``zarr.api``.
Read first: ``transaction.py``; the changes themselves are kept by ``zarr.storage.wrappers.overlay``.
"""

from __future__ import annotations

from zarr.transactions.transaction import Transaction, transaction

__all__ = ["Transaction", "transaction"]
