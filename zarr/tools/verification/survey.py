"""The knowledge about a hierarchy during a search: its nodes, the owners of keys, and how it is read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeVar

from zarr.abc.store import is_synchronous
from zarr.arrays.layout import ArrayLayout
from zarr.chunks.spec import parse_array_config
from zarr.errors import label_of
from zarr.metadata.documents import MAX_DOCUMENT_BYTES
from zarr.notices import without_warnings
from zarr.runners.asynchronous import LoopRunner
from zarr.runners.choose import runner_for
from zarr.runners.inline import InlineRunner
from zarr.steps.documents import ArrayMetadata, node_key
from zarr.steps.nodes import parse_array
from zarr.steps.requests import Gather, Get, Size, Steps, ask_steps
from zarr.storage.keys import JOB_PREFIX, JOURNAL_FOLDER, LOCKS_FOLDER, REPAIR_FOLDER, ancestors, is_partial
from zarr.storage.path import StorePath
from zarr.tools.contents.canonical import one_line
from zarr.tools.contents.nodes import can_list, expected_keys, open_node, sizes_of, stream_keys
from zarr.tools.verification.report import Fault
from zarr.types import METADATA_NAMES, ZarrFormat

NodeKind: TypeAlias = Literal["array", "group", "damaged"]
T = TypeVar("T")

NODE_NAMES: Final = frozenset({"zarr.json", ".zarray", ".zgroup"})
"""The documents that make a path a node."""

REFUSALS: Final = (ValueError, TypeError, KeyError, OverflowError)
"""The errors of parsers that refuse a document."""

AT_ONCE: Final = 64
"""Number of nodes whose documents are requested together."""

_KEPT_LAYOUTS: Final = 64

_AHEAD: Final = 32
"""Number of nodes after an array whose documents are requested with its own, as its keys come first in a listing."""


class Survey:
    """A hierarchy during a search for faults.

    Parameters
    ----------
    place : StorePath
        The root of the hierarchy.
    documents_known : bool, default True
        If True, ``documents`` will be filled; if False, documents are looked up at possible places.

    Attributes
    ----------
    documents : dict
        For each path with a metadata document the names of the existing ones.
    kinds : dict
        The kind of each node; ``"damaged"`` if its document cannot be read.
    copies : dict
        The keys of the documents with readable consolidated metadata, and the paths of their groups.
    listed : bool
        True if the store lists its keys.
    others, seen : int
        Number of keys that are no documents, and number of those that are finished.
    healthy_copies : dict
        Documents of damaged or missing nodes in consolidated metadata: by path, the documents by name.
    """

    def __init__(self, place: StorePath, documents_known: bool = True) -> None:
        self.store, self.path = place.store, place.path
        self.runner: InlineRunner | LoopRunner = runner_for(place.store)
        self.listed = can_list(place)
        self.documents: dict[str, frozenset[str]] = {}
        self.kinds: dict[str, NodeKind] = {}
        self.others = self.seen = 0
        self._unlisted: frozenset[str] = frozenset() if documents_known else NODE_NAMES
        self.copies: dict[str, str] = {}
        self.healthy_copies: dict[str, dict[str, dict[str, Any]]] = {}
        self._layouts: dict[str, ArrayLayout | None] = {}

    @property
    def label(self) -> str:
        """The place in messages."""
        return one_line(f"/{self.path} of {label_of(self.store)}")

    def stream(self) -> Iterator[str]:
        """Yield all keys of the hierarchy except those that a repair has set aside, and the notes of tools.

        In a store that cannot list these are the documents that consolidated metadata names, and the existing chunks of
        the grids.
        """
        if not self.listed:
            there = sizes_of(self.store, expected_keys(open_node(StorePath(self.store, self.path))))
            yield from (key for key, _ in there)
            return
        marked = f"{REPAIR_FOLDER}/"
        for key in stream_keys(self.store, self.path):
            if not (key.startswith(JOB_PREFIX) or (marked in key and is_set_aside(key))):
                yield key

    @cached_property
    def order(self) -> list[str]:
        """The paths of all nodes, sorted; to be read when all are known."""
        return sorted(self.kinds)

    @cached_property
    def damaged(self) -> list[str]:
        """The paths of the unreadable nodes; to be read when all are known."""
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
        """Return True if there is a key below a path."""
        if not self.listed:
            return any(each.startswith(f"{path}/") for each in self.documents)
        return next(stream_keys(self.store, path), None) is not None

    def list_documents(self) -> None:
        """Find all places with metadata documents."""
        known: dict[frozenset[str], frozenset[str]] = {}
        for key in self.stream():
            path, _, name = key.rpartition("/")
            if name in METADATA_NAMES and not is_left_over(key):
                names = self.documents.get(path, frozenset()) | {name}
                self.documents[path] = known.setdefault(names, names)
            else:
                self.others += 1

    def formats(self, path: str) -> set[ZarrFormat]:
        """Return the formats of the documents of a node at a path."""
        names = self.documents.get(path, frozenset())
        found: set[ZarrFormat] = {2} if names & {".zarray", ".zgroup"} else set()
        return found | ({3} if "zarr.json" in names else set())

    def owner_of(self, key: str) -> str | None:
        """Return the nearest node above a key, or above the path of a node; None if there is none."""
        return next((path for path in ancestors(key) if path in self.kinds), None)

    def run(self, steps: Iterable[Steps[T]]) -> Iterator[T]:
        """Run steps, some of them at a time, and yield their results in order."""
        left = iter(steps)
        while some := list(islice(left, AT_ONCE)):
            yield from self.runner.run(ask_steps(Gather(some)))

    def layout(self, path: str) -> ArrayLayout | None:
        """Return the layout of an array; None if its document is impossible or gone."""
        kept = self._layouts
        if path not in kept:
            if len(kept) >= _KEPT_LAYOUTS:
                kept = self._layouts = {}  # another thread may use the old one
            paths = self._next_arrays(path)
            documents = list(self.run(self._documents_steps(each) for each in paths))
            for each, found in zip(paths, documents, strict=True):
                kept[each] = self._layout_of(each, found)
        return kept[path]

    def _next_arrays(self, path: str) -> list[str]:
        """Return the path of an array, and of a service those of arrays whose chunks are probably checked next."""
        if self._unlisted or is_synchronous(self.store):
            return [path]
        at = bisect_left(self.order, path)
        near = [each for each in self.order[at : at + _AHEAD] if self.kinds[each] == "array"]
        return near if path in near else [path]

    def _documents_steps(self, path: str) -> Steps[dict[str, bytes]]:
        found: dict[str, bytes] = {}
        for name in ("zarr.json", ".zarray"):
            if name in self.documents.get(path, self._unlisted):
                raw = yield from read_document_steps(node_key(path, name))
                if isinstance(raw, bytes):
                    found[name] = raw
        return found

    def _layout_of(self, path: str, found: dict[str, bytes]) -> ArrayLayout | None:
        try:
            with without_warnings():
                layout = layout_of(parse_array(found, StorePath(self.store, path)), path)
            layout.require_codecs()
        except REFUSALS:
            return None
        layout.store = self.store
        return layout


def layout_of(metadata: ArrayMetadata, path: str) -> ArrayLayout:
    """Return the layout of an array whose chunks are read once, one at a time."""
    return ArrayLayout(metadata, path, parse_array_config({"chunk_cache_bytes": 0}))


def is_set_aside(key: str) -> bool:
    """Return True if a key is one that a repair has set aside.

    Examples
    --------
    >>> is_set_aside("a/.zarr-repair/1/x"), is_set_aside("a/x")
    (True, False)
    """
    return REPAIR_FOLDER in key.split("/")[:-1]


def is_left_over(key: str) -> bool:
    """Return True if a key is an unfinished value, a lock or a part of a journal.

    Examples
    --------
    >>> is_left_over("a/.zarr-locks/0.node"), is_left_over("a/.c.1f-2.partial"), is_left_over("a/c/0")
    (True, True, False)
    """
    parts = key.split("/")
    return LOCKS_FOLDER in parts or JOURNAL_FOLDER in parts or any(map(is_partial, parts))


def read_document_steps(key: str) -> Steps[bytes | Fault | None]:
    """Return a document; a fault if it cannot be read, None if there is none."""
    path = key.rpartition("/")[0]
    try:
        size = yield Size(key)
        if size is not None and size > MAX_DOCUMENT_BYTES:
            text = f"the document has {size} bytes, more than the limit of {MAX_DOCUMENT_BYTES}: this is no metadata."
            return Fault("document-unreadable", key, path, text)
        raw = yield Get(key)
    except (OSError, ValueError) as error:
        return Fault("key-unreadable", key, path, f"the store cannot read it: {error_text(error)}")
    return None if raw is None else bytes(raw.to_bytes())


def error_text(error: BaseException) -> str:
    """Return the class and the message of an error, in one line.

    Examples
    --------
    >>> error_text(KeyError("x"))
    "KeyError: 'x'"
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]}" if text else type(error).__name__
