"""The vocabulary of requests: everything that a generator of steps may yield to its runner.

Steps are plain generators. They yield a request, a runner answers it, and an error of the store is thrown in at the
``yield``::

    def double_steps(key: str) -> Steps[None]:
        raw = yield Get(key)
        if raw is not None:
            yield Put(key, raw + raw)

A request says what is wanted and never how: no request names a store, a loop or a thread. Keys are full store keys
(with the path of the array or group).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from zarr._records import record, set_values

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.buffer.core import Buffer, BufferPrototype

T = TypeVar("T")
Steps: TypeAlias = Generator[Any, Any, T]

Family = Literal["node", "chunk"]
FAMILY_RANK: Final[dict[str, int]] = {"node": 0, "chunk": 1}
"""Locks are acquired in this order: a holder of a chunk may not acquire a node."""


class Request:
    """Base class of all requests; equality and ``repr`` use the fields, so that transcripts are easy to compare."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


def ask_steps(request: Request) -> Steps[Any]:
    """Make one request, and return its reply.

    Examples
    --------
    >>> next(ask_steps(Get("a"))).key
    'a'
    """
    return (yield request)


class _OfKey(Request):
    """A request about one key."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


class _OfKeys(Request):
    """A request about some keys."""

    __slots__ = ("keys",)

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys


class _OfPrefix(Request):
    """A request about all keys under a directory-like prefix."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class Get(Request):
    """Ask for the value of a key, or one range of it; the answer is a Buffer, or None if there is no such key."""

    __slots__ = ("byte_range", "key", "prototype")

    def __init__(
        self, key: str, byte_range: ByteRequest | None = None, prototype: BufferPrototype | None = None
    ) -> None:
        self.key = key
        self.byte_range = byte_range
        self.prototype = prototype


class GetMany(_OfKeys):
    """Ask for the values of some keys, together if the store can do that; the answer is a list of Buffers and Nones."""


class GetVersions(_OfKeys):
    """Ask a store of coroutines for the values of some keys, with their versions for ``Hold``.

    The answer is a list of pairs: a Buffer or None, and the version; None if the store has no versions.
    """


class GetRanges(Request):
    """Ask for several ranges of one key.

    The answer is a list of Buffers in the order of ``ranges``, or None if there is no such key. The runner joins
    near ranges into one read, with the limits given here (None: the limits of the configuration of the store). With a
    ``version``, all ranges are of the value of that version: a ``ValueReplacedError`` is thrown in if there is another
    value by now.
    """

    __slots__ = ("key", "max_coalesced_bytes", "max_gap_bytes", "prototype", "ranges", "version")

    def __init__(
        self,
        key: str,
        ranges: Sequence[ByteRequest],
        prototype: BufferPrototype | None = None,
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
        version: Any = None,
    ) -> None:
        self.key = key
        self.ranges = ranges
        self.prototype = prototype
        self.max_gap_bytes = max_gap_bytes
        self.max_coalesced_bytes = max_coalesced_bytes
        self.version = version


class GetParts(Request):
    """Ask for ranges of one value that its first range determines: the chunks of a shard, by its index.

    The answer is a list of Buffers in the order of the ranges, or None if there is no such key. They are all of one
    value, even if it is replaced meanwhile: by any writer if the store can read one version of a value, else by one in
    this process.

    Parameters
    ----------
    key : str
    first : ByteRequest
    choose : callable
        Takes the Buffer of the first range and the stamp of its value (None if the store cannot read one version of a
        value), returns the ranges; may be called more than once.
    strict : bool
        If True, they are of one value in any store: one that cannot open a value, or read a version of it, is asked for
        all of it.
    """

    __slots__ = ("choose", "first", "key", "max_coalesced_bytes", "max_gap_bytes", "strict")

    def __init__(
        self,
        key: str,
        first: ByteRequest,
        choose: Callable[[Buffer, tuple[str, Any] | None], Sequence[ByteRequest]],
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
        strict: bool = False,
    ) -> None:
        self.key = key
        self.first = first
        self.choose = choose
        self.strict = strict
        self.max_gap_bytes = max_gap_bytes
        self.max_coalesced_bytes = max_coalesced_bytes

    def ranges(self, raw: Buffer, stamp: tuple[str, Any] | None = None) -> GetRanges:
        """Return the second request, after the first range has come."""
        return GetRanges(
            self.key,
            self.choose(raw, stamp),
            max_gap_bytes=self.max_gap_bytes,
            max_coalesced_bytes=self.max_coalesced_bytes,
            version=None if stamp is None else stamp[1],
        )


class Put(Request):
    """Store a value under a key, replacing the old one; the answer is None.

    Parameters
    ----------
    key : str
    value : Buffer
    locks : bool or LockScope
        If True, the chunk of this key is held while the value is stored, and only then: this is enough for a whole
        chunk, whose old value does not matter. With a scope, other processes are kept out, too.
    """

    __slots__ = ("key", "locks", "value")

    def __init__(self, key: str, value: Buffer, locks: bool | LockScope = False) -> None:
        self.key = key
        self.value = value
        self.locks = locks


class Splice(Request):
    """Replace the value of a key by a list of buffers and ranges (start, end) of the present value.

    Only for stores of files, where kept bytes need not be read. The answer is None; EOFError is thrown in if the
    present value ends before a range does.

    Parameters
    ----------
    key : str
    parts : sequence
    known : sequence of (ByteRequest, Buffer)
        What the parts follow from: a ``ValueReplacedError`` is thrown in unless the present value holds these bytes
        there.
    """

    __slots__ = ("key", "known", "parts")

    def __init__(
        self,
        key: str,
        parts: Sequence[Buffer | tuple[int, int]],
        known: Sequence[tuple[ByteRequest, Buffer]] = (),
    ) -> None:
        self.key = key
        self.parts = parts
        self.known = known


class PutIfAbsent(Request):
    """Store a value if the key has none; the answer is True if this request stored it."""

    __slots__ = ("key", "value")

    def __init__(self, key: str, value: Buffer) -> None:
        self.key = key
        self.value = value


class Delete(_OfKey):
    """Remove a key; a missing key is no error. The answer is None."""


class DeleteMany(_OfKeys):
    """Remove some keys, together if the store can do that; a missing key is no error. The answer is None."""


class DeletePrefix(_OfPrefix):
    """Remove all keys under a directory-like prefix (``""`` is the whole store); the answer is None."""


class Rename(Request):
    """Give a folder, with all keys in it, another name; the answer is False if the store cannot do it in one step."""

    __slots__ = ("dest", "source")

    def __init__(self, source: str, dest: str) -> None:
        self.source = source
        self.dest = dest


class List(_OfPrefix):
    """Ask for all keys under a directory-like prefix; the answer is a list of full keys, in any order."""


class ListDir(_OfPrefix):
    """Ask for the names directly under a prefix; the answer is a list of names without slashes."""


class Size(_OfKey):
    """Ask for the number of bytes of a value; the answer is an int, or None if there is no such key."""


class Gather(Request):
    """Run many steps, in parallel if that helps; the answer is the list of their results, in order.

    ``steps`` may be any iterable, preferably a lazy one: it is consumed while the steps run, so that ten million chunks
    are never ten million generators. The first error ends the others and is thrown into the steps that asked.

    ``only_requests`` steps only make requests: at most as many of them run as there may be requests under way.
    """

    __slots__ = ("only_requests", "steps")

    def __init__(self, steps: Iterable[Steps[Any]], only_requests: bool = False) -> None:
        self.steps = steps
        self.only_requests = only_requests


@record(frozen=True)
class LockScope:
    """The processes that a lock keeps out besides the threads of this process.

    Parameters
    ----------
    path : str
        The node to which the keys belong.
    folder : str, optional
        The folder of the lock files; by default that of the store.
    required : bool, default True
        If True, it is an error if processes cannot be kept out. If False, only stores keep them out for which that is
        almost free: folders on local file systems.
    """

    path: str
    folder: str | None
    required: bool

    def __init__(self, path: str, folder: str | None = None, required: bool = True) -> None:
        set_values(self, path=path, folder=folder, required=required)

    @classmethod
    def of(cls, locking: str, path: str) -> LockScope | None:
        """Return the scope for a configuration; None for "thread".

        Examples
        --------
        >>> LockScope.of("process:/locks", "a/b")
        LockScope(path='a/b', folder='/locks', required=True)
        >>> LockScope.of("auto", "a/b")
        LockScope(path='a/b', folder=None, required=False)
        """
        if locking == "thread":
            return None
        if locking == "auto":
            return cls(path, None, False)
        return cls(path, locking.partition(":")[2] or None)


scope_of = lru_cache(256)(LockScope.of)
"""A cached ``LockScope.of``, for paths that are locked again and again."""


class ChangedMeanwhileError(Exception):
    """A value was not stored, since another process has changed it after it was read."""


def compared_steps(change: Callable[[], Steps[T]]) -> Steps[T]:
    """Run a change of values that are compared before they are replaced; again as often as another process was first.

    Parameters
    ----------
    change : callable
        Returns the steps: they hold the keys as ``compared``, read the values, and replace them.
    """
    while True:
        try:
            (result,) = yield Gather((change(),))
        except ChangedMeanwhileError:
            continue
        answer: T = result
        return answer


class Hold(Request):
    """Lock keys against others in this process until the asking generator (with all it delegates to) has ended.

    All keys of one Hold are acquired together, in one fixed order: nodes before chunks, then by name. A later Hold of
    the same generator, or of one that it gathers, must not ask for keys that come before: this excludes deadlocks. Keys
    that are held already, by this generator or by one above it in a Gather, are not acquired twice. To release keys
    earlier, gather the steps that need them: ``yield Gather([locked_steps()])``. With a ``scope``, other processes that
    hold with the same scope are kept out, too. ``below`` names nodes whose documents are all held, with those of all
    nodes below them, also of nodes that do not exist yet.

    Steps that can read again name the keys that they read and replace as ``compared``. Then a runner may answer True:
    other processes are not kept out, but a value of these keys is replaced only if it is still that of the last read;
    otherwise a ``ChangedMeanwhileError`` is thrown in at the ``Put``, or a transaction fails at its end. Values without
    that comparison: those that were not read, and those that are deleted. ``versions`` has the versions of values that
    were read before, by ``GetVersions``.
    """

    __slots__ = ("below", "compared", "family", "keys", "scope", "versions")

    def __init__(
        self,
        keys: Sequence[str],
        family: Family = "chunk",
        scope: LockScope | None = None,
        compared: Sequence[str] = (),
        below: Sequence[str] = (),
        versions: Mapping[str, Any] | None = None,
    ) -> None:
        self.compared = compared
        self.below = below
        self.keys = keys
        self.family = family
        self.scope = scope
        self.versions = versions


class Staged(Request):
    """Run steps whose changes all become visible together when the steps have ended, or not at all.

    Only for stores for which :func:`zarr.abc.stores.changes.stages` is True. The answer is the result of the steps.
    They read the contents that the store will have; a value at another place of the same store may be missing in them.

    Parameters
    ----------
    steps : generator of requests
    path : str
        All keys that the steps change lie below it.
    replace : sequence of str
        Places, at or below ``path``, whose old contents are removed.
    absent : sequence of str
        Keys that must have no value when the changes are published; else a ``TakenError`` is thrown in.
    """

    __slots__ = ("absent", "path", "replace", "steps")

    def __init__(
        self, steps: Steps[Any], path: str, *, replace: Sequence[str] = (), absent: Sequence[str] = ()
    ) -> None:
        self.steps = steps
        self.path = path
        self.replace = replace
        self.absent = absent

    def with_steps(self, steps: Steps[Any]) -> Staged:
        """Return the same request for other steps."""
        return Staged(steps, self.path, replace=self.replace, absent=self.absent)


class Transfer(Request):
    """Run a bulk job of the compiled core over many keys; the answer is None (the job holds its results).

    Parameters
    ----------
    job : zarr_core job
        ``ReadJob``, ``WriteJob``, ``ShardReadJob`` or ``ShardWriteJob``.
    direction : "read" or "write"
    keys : zarr_core.KeyFormat
        Makes the keys; used directly if the store is a folder of files.
    coords : zarr_core.Plan or zarr_core.ShardGroups
        The argument of ``keys.keys(coords)``, which lists all key names; used only if names are needed.
    slots : sequence of int, optional
        The slots (or groups) of the job, if it does not handle all.
    count : int
        The number of keys of the job.
    nbytes : int
        Decoded bytes that the job moves: the runner chooses threads and batches by it.
    locks : bool, optional
        If True, the job waits for holders of its keys, and keeps them out, as if each key were held while the job runs;
        by default True for writes.
    scope : LockScope, optional
        The processes that these locks keep out besides the threads of this process.
    """

    __slots__ = ("coords", "count", "direction", "job", "keys", "locks", "nbytes", "scope", "slots")

    def __init__(
        self,
        job: Any,
        direction: Literal["read", "write"],
        keys: Any,
        coords: Any,
        *,
        count: int,
        nbytes: int = 0,
        slots: Sequence[int] | None = None,
        locks: bool | None = None,
        scope: LockScope | None = None,
    ) -> None:
        self.locks = direction == "write" if locks is None else locks
        self.scope = scope
        self.job = job
        self.direction = direction
        self.keys = keys
        self.coords = coords
        self.count = count
        self.nbytes = nbytes
        self.slots = slots

    def names(self) -> list[str]:
        """Return the store keys of the job, in its order."""
        names: list[str] = self.keys.keys(self.coords)
        if self.slots is None:
            return names
        return [names[int(slot)] for slot in self.slots]


class Stamp(_OfKey):
    """Ask for a stamp that changes whenever the value of a key does, without reading the value.

    The answer is the name of the store and a stamp that compares equal for one and the same value only; None if the
    store has no stamps, or none for this value (there is no value, or it is so new that the stamp of the next value
    could be the same).
    """


class FreshStamp(_OfKey):
    """Ask for the number of bytes and a stamp of a value, just after it was stored, and later: equal, it is unchanged.

    Only for stores that give them (``gives_fresh_stamps``). The answer may be None, and then says nothing.
    """


class LastStamp(_OfKey):
    """Ask for the stamp that the value of a key had when its index was kept, in a store that reads by version.

    The answer is like that of ``Stamp``, but the value may have been replaced: ask for ranges with the stamp as their
    version. None if no index is kept, or if the store cannot read one version of a value.
    """


class Await(Request):
    """Await a foreign coroutine (of a codec or a pipeline); the answer is its result.

    The runner calls ``factory``, so that the coroutine is created where it will run.
    """

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Awaitable[Any]]) -> None:
        self.factory = factory
