"""The rows of ``growth.py``, by theme: reads, shards, nodes, writes, and what TensorStore does of the same.

The same functions run with this library and with zarr-python: ``import zarr`` finds the one of the interpreter. A row
that another library cannot do raises, and its error is what is printed for it.
"""

from growth_rows import nodes, reads, shards, tensorstores, writes
from growth_rows.row import Row, Timed

ROWS: dict[str, Row] = {**shards.ROWS, **reads.ROWS, **writes.ROWS, **nodes.ROWS}
TENSORSTORE: dict[str, Row] = tensorstores.ROWS

__all__ = ["ROWS", "TENSORSTORE", "Row", "Timed"]
