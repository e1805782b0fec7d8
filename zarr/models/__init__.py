"""Object models: the structure of a hierarchy as plain values, without its data and its place of storage.

``ArraySpec`` and ``GroupSpec`` describe an array and a group of format 3, those of ``zarr.models.v2`` of format 2; the
``members`` of a group are models, too. Models can be made from JSON, from stored nodes or by hand; they can be
compared, validated, written as JSON, and stored as nodes.

May import: the public API of ``zarr`` only (ci/check_layers.py lists it); nothing else imports it.
Read first: ``node.py``, then ``v3.py``.

References
----------
.. [1] ZEP 6, A Zarr Object Model. https://zarr.dev/zeps/draft/ZEP0006.html

Examples
--------
>>> import numpy as np, zarr
>>> from zarr.models import ArraySpec, GroupSpec
>>> model = GroupSpec(
...     attributes={"station": "Jacksboro"},
...     members={"t": ArraySpec.from_array(np.empty((4, 6), dtype="int16"), dimension_names=("y", "x"))},
... )
>>> group = model.to_zarr(zarr.storage.MemoryStore())
>>> group["t"].shape, GroupSpec.from_zarr(group) == model
((4, 6), True)
"""

from __future__ import annotations

from zarr.models.conversion import from_flat, from_json, from_zarr, to_flat, to_v2, to_v3, to_zarr
from zarr.models.node import NodeSpec
from zarr.models.v2 import ArraySpec as ArraySpecV2
from zarr.models.v2 import GroupSpec as GroupSpecV2
from zarr.models.v3 import ArraySpec, GroupSpec, NamedConfig

__all__ = [
    "ArraySpec", "ArraySpecV2", "GroupSpec", "GroupSpecV2", "NamedConfig", "NodeSpec", "from_flat", "from_json",
    "from_zarr", "to_flat", "to_v2", "to_v3", "to_zarr",
]
