"""The documents of a node in a store: read, compared and stored, as ``zarr.core.metadata.io`` does.

Needed by programs that store metadata that they have made or mended themselves.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from zarr.buffer.core import Buffer, default_buffer_prototype
from zarr.groups.handle import NodeMetadata
from zarr.metadata.documents import load_document
from zarr.metadata.group import GroupMetadata
from zarr.runners.choose import async_runner_for
from zarr.steps.nodes import ensure_ancestors_steps, replace_documents_steps
from zarr.steps.requests import Steps
from zarr.storage.path import StorePath
from zarr.types import JSON, ZARR_JSON, ZARRAY_JSON, ZATTRS_JSON, ZarrFormat


class _Absent(enum.Enum):
    ABSENT = "absent"


ABSENT: Final = _Absent.ABSENT
"""Stands for a value that one of two documents lacks."""

ARRAY_DOCUMENTS: Final[dict[ZarrFormat, tuple[str, ...]]] = {2: (ZARRAY_JSON, ZATTRS_JSON), 3: (ZARR_JSON,)}
"""The names of the documents of an array, by format."""


class DocumentChange(NamedTuple):
    """A value that differs between stored and new documents: the way to it, and what it was and will be."""

    path: tuple[str | int, ...]
    stored: JSON | _Absent
    new: JSON | _Absent


def diff_documents(stored: Mapping[str, JSON], new: Mapping[str, JSON]) -> tuple[DocumentChange, ...]:
    """Return the smallest values that differ between the stored and the new documents of a node.

    Parameters
    ----------
    stored, new
        The parsed documents by name.

    Examples
    --------
    >>> diff_documents({".zattrs": {"a": [1, 2]}}, {".zattrs": {"a": [1, 3]}})[0].path
    ('.zattrs', 'a', 1)
    """
    return tuple(_changes((), dict(stored), dict(new)))


def _changes(path: tuple[str | int, ...], stored: Any, new: Any) -> Iterator[DocumentChange]:
    if isinstance(stored, Mapping) and isinstance(new, Mapping):
        for name in (*stored, *(name for name in new if name not in stored)):
            yield from _changes((*path, name), stored.get(name, ABSENT), new.get(name, ABSENT))
    elif isinstance(stored, list | tuple) and isinstance(new, list | tuple):
        for place in range(max(len(stored), len(new))):
            yield from _changes((*path, place), _entry(stored, place), _entry(new, place))
    elif (stored is ABSENT) != (new is ABSENT) or (stored is not ABSENT and json.dumps(stored) != json.dumps(new)):
        # The texts differ for true and 1, and are the same for NaN.
        yield DocumentChange(path, stored, new)


def _entry(array: Any, place: int) -> Any:
    return array[place] if place < len(array) else ABSENT


async def read_documents(store_path: StorePath, keys: Iterable[str]) -> dict[str, Buffer]:
    """Return the stored documents of a node by name; those that are not stored are left out."""
    found = {name: await (store_path / name).get() for name in keys}
    return {name: raw for name, raw in found.items() if raw is not None}


async def upsert_metadata(
    store_path: StorePath, metadata: NodeMetadata, stored: Mapping[str, Buffer]
) -> tuple[DocumentChange, ...]:
    """Store the documents of metadata that differ from the stored ones, and return the differences.

    Parameters
    ----------
    store_path
        The place of the node.
    metadata
        The metadata of the node.
    stored
        The documents that `read_documents` has found there.

    Raises
    ------
    TypeError
        If a stored document is no JSON object; nothing is stored then.
    """
    documents = _encode(store_path, metadata)
    old = {name: _load(raw, name) for name, raw in stored.items()}
    changes = diff_documents(old, {name: load_document(raw.to_bytes(), name) for name, raw in documents.items()})
    changed = {change.path[0] for change in changes}
    put = _put_steps(store_path, {name: raw for name, raw in documents.items() if name in changed})
    await async_runner_for(store_path.store).run(put)
    return changes


async def save_metadata(store_path: StorePath, metadata: NodeMetadata, ensure_parents: bool = False) -> None:
    """Store the documents of metadata, whether or not there is a node.

    Parameters
    ----------
    store_path
        The place of the node.
    metadata
        The metadata of the node.
    ensure_parents
        If True, create the groups above it that do not exist.

    Raises
    ------
    ValueError
        If ``ensure_parents`` is set and a node above is an array.
    """
    documents = _encode(store_path, metadata)

    def steps() -> Steps[None]:
        if ensure_parents:
            yield from ensure_ancestors_steps(store_path, metadata.zarr_format)
        yield from _put_steps(store_path, documents)

    await async_runner_for(store_path.store).run(steps())


def _encode(store_path: StorePath, metadata: NodeMetadata) -> dict[str, Buffer]:
    try:
        return metadata.to_buffer_dict(default_buffer_prototype())
    except Exception as error:
        kind = "Group" if isinstance(metadata, GroupMetadata) else "Array"
        error.add_note(f"{kind} {str(store_path)!r}: nothing was stored.")
        raise


def _load(raw: Buffer, name: str) -> JSON:
    try:
        return load_document(raw.to_bytes(), name)
    except TypeError as error:
        kind = type(json.loads(raw.to_bytes())).__name__
        raise TypeError(f"Expected a JSON object, got {kind}. {error}") from error


def _put_steps(store_path: StorePath, documents: Mapping[str, Buffer]) -> Steps[None]:
    if documents:
        yield from replace_documents_steps(store_path.path, documents, "thread")
