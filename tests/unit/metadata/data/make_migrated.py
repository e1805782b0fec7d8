"""Write ``migrated.json``: what zarr-python makes of the documents of format 2 in ``documents.json``.

Run with an interpreter that has zarr-python 3.4: ``python make_migrated.py > migrated.json``.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata.v2 import ArrayV2Metadata
from zarr.metadata.migrate_v3 import _convert_array_metadata

warnings.simplefilter("ignore")
CASES = json.loads((Path(__file__).parent / "documents.json").read_text())
migrated: dict[str, str] = {}
for case, documents in CASES.items():
    if ".zarray" not in documents:
        continue
    old = ArrayV2Metadata.from_dict(
        {**json.loads(documents[".zarray"]), "attributes": json.loads(documents[".zattrs"])}
    )
    try:
        new = _convert_array_metadata(old)
    except (TypeError, ValueError):
        continue
    migrated[case] = new.to_buffer_dict(default_buffer_prototype())["zarr.json"].to_bytes().decode()
print(json.dumps(migrated, indent=1))
