"""What is known of a hierarchy while it is searched: its nodes, which of them a key belongs to, how it is read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from zarr.arrays.layout import ArrayLayout
from zarr.chunks.spec import parse_array_config
from zarr.errors import label_of
from zarr.metadata.documents import MAX_DOCUMENT_BYTES
from zarr.runners.choose import runner_for
from zarr.steps.documents import ArrayMetadata, ancestors, node_key
from zarr.steps.nodes import parse_array
from zarr.steps.requests import Gather, Get, Size, Steps, ask_steps
from zarr.storage.keys import JOB_PREFIX, JOURNAL_FOLDER, LOCKS_FOLDER, REPAIR_FOLDER, is_partial
from zarr.storage.path import StorePath
from zarr.tools.contents.blocks import stream_keys
from zarr.tools.verification.report import Fault
from zarr.types import METADATA_NAMES, ZarrFormat

if TYPE_CHECKING:
    from zarr.runners.asynchronous import LoopRunner
    from zarr.runners.inline import InlineRunner

NodeKind: TypeAlias = Literal["array", "group", "damaged"]
T = TypeVar("T")

NODE_NAMES: Final = frozenset({"zarr.json", ".zarray", ".zgroup"})
"""The documents that make a node."""

AT_ONCE: Final = 64
"""How many nodes are asked for in one go."""

_KEPT_LAYOUTS: Final = 64


class Survey:
    """A hierarchy that is searched for faults.

    Parameters
    ----------
    place : StorePath
        The root of the hierarchy.

    Attributes
    ----------
    documents : dict
        For each path with a metadata document the names of those that are there.
    kinds : dict
        The kind of each node; ``"damaged"`` if its document cannot be read.
    copies : dict
        The keys of the documents that hold readable consolidated metadata, and the paths of their groups.
    healthy_copies : dict
        Documents of damaged or missing nodes that consolidated metadata have: by path, the documents by name.
    """

    def __init__(self, place: StorePath) -> None:
        self.store, self.path = place.store, place.path
        self.runner: InlineRunner | LoopRunner = runner_for(place.store)
        self.documents: dict[str, frozenset[str]] = {}
        self.kinds: dict[str, NodeKind] = {}
        self.copies: dict[str, str] = {}
        self.healthy_copies: dict[str, dict[str, dict[str, Any]]] = {}
        self._layouts: dict[str, ArrayLayout | None] = {}

    @property
    def label(self) -> str:
        """The place in messages."""
        return f"/{self.path} of {label_of(self.store)!r}"

    def stream(self) -> Iterator[str]:
        """Yield all keys of the hierarchy but those that a repair has set aside, and the notes of tools."""
        marked = f"{REPAIR_FOLDER}/"
        for key in stream_keys(self.store, self.path):
            if not (key.startswith(JOB_PREFIX) or (marked in key and is_set_aside(key))):
                yield key

    @cached_property
    def order(self) -> list[str]:
        """The paths of all nodes, sorted; to be asked when all are known."""
        return sorted(self.kinds)

    @cached_property
    def damaged(self) -> list[str]:
        """The paths of the nodes that cannot be read; to be asked when all are known."""
        return [path for path, kind in self.kinds.items() if kind == "damaged"]

    def below(self, path: str) -> Iterator[str]:
        """Yield the paths of the nodes below a path, in order."""
        prefix = f"{path}/" if path else ""
        for place in range(bisect_left(self.order, prefix), len(self.order)):
            if not self.order[place].startswith(prefix):
                return
            if self.order[place] != path:
                yield self.order[place]

    def has_keys(self, path: str) -> bool:
        """Return whether there is a key below a path."""
        return next(stream_keys(self.store, path), None) is not None

    def list_documents(self) -> None:
        """Find all places with metadata documents."""
        known: dict[frozenset[str], frozenset[str]] = {}
        for key in self.stream():
            path, _, name = key.rpartition("/")
            if name in METADATA_NAMES and not is_left_over(key):
                names = self.documents.get(path, frozenset()) | {name}
                self.documents[path] = known.setdefault(names, names)

    def formats(self, path: str) -> set[ZarrFormat]:
        """Return the formats of which there are documents of a node at a path."""
        names = self.documents.get(path, frozenset())
        found: set[ZarrFormat] = {2} if names & {".zarray", ".zgroup"} else set()
        return found | ({3} if "zarr.json" in names else set())

    def owner_of(self, key: str) -> str | None:
        """Return the nearest node that a key lies below; None if there is none."""
        return next((path for path in ancestors(key) if path in self.kinds), None)

    def above(self, path: str) -> str | None:
        """Return the nearest node above a node within the hierarchy; None if there is none."""
        if path == self.path:
            return None
        return self.owner_of(path)

    def run(self, steps: Iterable[Steps[T]]) -> Iterator[T]:
        """Run steps, some of them at a time, and yield their results in order."""
        left = iter(steps)
        while some := list(islice(left, AT_ONCE)):
            yield from self.runner.run(ask_steps(Gather(some)))

    def layout(self, path: str) -> ArrayLayout | None:
        """Return the layout of an array; None if it has none: its document says something impossible, or is gone."""
        if path not in self._layouts:
            if len(self._layouts) >= _KEPT_LAYOUTS:
                self._layouts.clear()
            self._layouts[path] = self._read_layout(path)
        return self._layouts[path]

    def _read_layout(self, path: str) -> ArrayLayout | None:
        found = {}
        for name in ("zarr.json", ".zarray"):
            if name in self.documents.get(path, ()):
                raw = self.runner.run(read_document_steps(node_key(path, name)))
                if isinstance(raw, bytes):
                    found[name] = raw
        try:
            layout = layout_of(parse_array(found, StorePath(self.store, path), quiet=True), path)
            layout.require_codecs()
        except (ValueError, TypeError, KeyError, OverflowError):
            return None
        layout.store = self.store
        return layout


def layout_of(metadata: ArrayMetadata, path: str) -> ArrayLayout:
    """Return the layout of an array whose chunks are read once, one at a time."""
    return ArrayLayout(metadata, path, parse_array_config({"chunk_cache_bytes": 0}))


def is_set_aside(key: str) -> bool:
    """Return whether a key is one that a repair has moved out of the way.

    Examples
    --------
    >>> is_set_aside("a/.zarr-repair/1/x"), is_set_aside("a/x")
    (True, False)
    """
    return REPAIR_FOLDER in key.split("/")[:-1]


def is_left_over(key: str) -> bool:
    """Return whether a key is a value that was not written to its end, a lock or a part of a journal.

    Examples
    --------
    >>> is_left_over("a/.zarr-locks/0.node"), is_left_over("a/.c.1f-2.partial"), is_left_over("a/c/0")
    (True, True, False)
    """
    parts = key.split("/")
    return LOCKS_FOLDER in parts or JOURNAL_FOLDER in parts or any(map(is_partial, parts))


def read_document_steps(key: str) -> Steps[bytes | Fault | None]:
    """Return a document; a fault if it cannot be had, None if there is none."""
    path = key.rpartition("/")[0]
    try:
        size = yield Size(key)
        if size is not None and size > MAX_DOCUMENT_BYTES:
            text = f"the document has {size} bytes, more than the limit of {MAX_DOCUMENT_BYTES}: this is no metadata."
            return Fault("document-unreadable", key, path, text)
        raw = yield Get(key)
    except (OSError, ValueError) as error:
        return Fault("key-unreadable", key, path, f"the store cannot read it: {told(error)}")
    return None if raw is None else bytes(raw.to_bytes())


def told(error: BaseException) -> str:
    """Return what an error says, in one line.

    Examples
    --------
    >>> told(KeyError("x"))
    "KeyError: 'x'"
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]}" if text else type(error).__name__
