"""Every workload that is compared, one file a theme. Read ``registry.py`` first.

``python -m workloads PEER WORKLOAD FOLDER`` runs one and prints its figures as JSON; a peer is imported by its own
library's name only, so each theme runs in every environment. What lives here may import numpy and ``peers``.
"""

from workloads import bulk, cold, element, indexing, memory, metadata, nodes, shards, strings
from workloads.registry import WORKLOADS

__all__ = [
    "WORKLOADS", "bulk", "cold", "element", "indexing", "memory", "metadata", "nodes", "shards", "strings",
]  # fmt: skip
