"""The vocabulary of requests: everything that a generator of steps may ask of its runner.

Steps are plain generators. They yield a request, a runner answers it, and an error of the store is thrown in at the
``yield``::

    def double_steps(key: str) -> Steps[None]:
        raw = yield Get(key)
        if raw is not None:
            yield Put(key, raw + raw)

A request says what is wanted and never how: no request names a store, a loop or a thread.
Keys are full store keys (the path of the array or group included).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
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
"""Locks are taken in this order: who holds a chunk may not ask for a node any more."""


class Request:
    """Base class of all requests; equality and ``repr`` go by the fields, which makes transcripts easy to assert."""

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



class Get(Request):
    """Ask for the value of a key, or one range of it; the answer is a Buffer, or None where there is no such key."""

    __slots__ = ("byte_range", "key", "prototype")

    def __init__(
        self, key: str, byte_range: ByteRequest | None = None, prototype: BufferPrototype | None = None
    ) -> None:
        self.key = key
        self.byte_range = byte_range
        self.prototype = prototype


class GetMany(Request):
    """Ask for the values of some keys, in one go where the store can; the answer is a list of Buffers and Nones."""

    __slots__ = ("keys",)

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = keys


class GetRanges(Request):
    """Ask for several ranges of one key.

    The answer is a list of Buffers in the order of ``ranges``, or None where there is no such key. The runner joins
    near ranges into one read, with the limits given here (None: the limits of the configuration of the store).
    """

    __slots__ = ("key", "max_coalesced_bytes", "max_gap_bytes", "prototype", "ranges")

    def __init__(
        self,
        key: str,
        ranges: Sequence[ByteRequest],
        prototype: BufferPrototype | None = None,
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
    ) -> None:
        self.key = key
        self.ranges = ranges
        self.prototype = prototype
        self.max_gap_bytes = max_gap_bytes
        self.max_coalesced_bytes = max_coalesced_bytes


class GetParts(Request):
    """Ask for ranges of one value that a first range of it tells: the chunks of a shard, by its index.

    The answer is a list of Buffers in the order of the ranges, all of one value, whoever replaces it meanwhile in this
    process; or None where there is no such key.

    Parameters
    ----------
    key : str
    first : ByteRequest
    choose : callable
        Takes the Buffer of the first range, returns the ranges; may be called more than once.
    """

    __slots__ = ("choose", "first", "key", "max_coalesced_bytes", "max_gap_bytes")

    def __init__(
        self,
        key: str,
        first: ByteRequest,
        choose: Callable[[Buffer], Sequence[ByteRequest]],
        max_gap_bytes: int | None = None,
        max_coalesced_bytes: int | None = None,
    ) -> None:
        self.key = key
        self.first = first
        self.choose = choose
        self.max_gap_bytes = max_gap_bytes
        self.max_coalesced_bytes = max_coalesced_bytes

    def ranges(self, raw: Buffer) -> GetRanges:
        """Return the second request, when the first range has come."""
        return GetRanges(
            self.key,
            self.choose(raw),
            max_gap_bytes=self.max_gap_bytes,
            max_coalesced_bytes=self.max_coalesced_bytes,
        )


class Put(Request):
    """Store a value under a key, replacing what was there; the answer is None.

    Parameters
    ----------
    key : str
    value : Buffer
    locks : bool or LockScope
        Whether the chunk of this key is held while the value is stored, and only then: enough for a whole chunk, whose
        old value does not matter. A scope says that other processes are kept out, too.
    """

    __slots__ = ("key", "locks", "value")

    def __init__(self, key: str, value: Buffer, locks: bool | LockScope = False) -> None:
        self.key = key
        self.value = value
        self.locks = locks


class Splice(Request):
    """Replace the value of a key by buffers and ranges (start, end) of the present value, one after the other.

    Only asked of stores of files, where what is kept need not be read. The answer is None; EOFError is thrown in where
    the present value ends before a range does.
    """

    __slots__ = ("key", "parts")

    def __init__(self, key: str, parts: Sequence[Buffer | tuple[int, int]]) -> None:
        self.key = key
        self.parts = parts


class PutIfAbsent(Request):
    """Store a value where the key has none; the answer tells whether this request stored it."""

    __slots__ = ("key", "value")

    def __init__(self, key: str, value: Buffer) -> None:
        self.key = key
        self.value = value


class Delete(Request):
    """Remove a key; a key that is not there is no error. The answer is None."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


class DeletePrefix(Request):
    """Remove all keys under a directory-like prefix (``""`` is the whole store); the answer is None."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class List(Request):
    """Ask for all keys under a directory-like prefix; the answer is a list of full keys, in no promised order."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class ListDir(Request):
    """Ask for the names directly under a prefix; the answer is a list of names without slashes."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


class Size(Request):
    """Ask how many bytes a key holds; the answer is an int, or None where there is no such key."""

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


class Gather(Request):
    """Run many steps, at once where that helps; the answer is the list of their results, in order.

    ``steps`` may be any iterable, best a lazy one: it is drawn from as the work goes on, so that ten million chunks
    are never ten million generators. The first error ends the others and is thrown into the steps that asked.

    ``lean`` steps do nothing but ask the store: no more of them are alive than requests may be under way.
    """

    __slots__ = ("lean", "steps")

    def __init__(self, steps: Iterable[Steps[Any]], lean: bool = False) -> None:
        self.steps = steps
        self.lean = lean


@record(frozen=True)
class LockScope:
    """Whom a lock keeps out, where that is more than the threads of this process: all processes.

    Parameters
    ----------
    path : str
        The node to which the keys belong.
    folder : str, optional
        Where the lock files lie; by default as the store says.
    required : bool, default True
        Whether it is an error where processes cannot be kept out. Where not, they are kept out by stores that can do
        so at nearly no cost: folders on local file systems.
    """

    path: str
    folder: str | None
    required: bool

    def __init__(self, path: str, folder: str | None = None, required: bool = True) -> None:
        set_values(self, path=path, folder=folder, required=required)

    @classmethod
    def of(cls, locking: str, path: str) -> LockScope | None:
        """Return the scope that a configuration asks for; None for "thread".

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
"""``LockScope.of``, kept for paths that are locked again and again."""


class ChangedMeanwhileError(Exception):
    """A value was not stored, since another process has changed it since it was read."""


class Hold(Request):
    """Lock keys against others in this process until the asking generator (with all it delegates to) has ended.

    All keys of one Hold are taken together, in one fixed order: nodes before chunks, then by name. A later Hold of the
    same generator, or of one that it gathers, must not ask for keys that come before: that is how deadlocks are kept
    out. Keys that are held already, by this generator or by one above it in a Gather, are not taken twice. To let keys
    go earlier, gather the steps that need them: ``yield Gather([locked_steps()])``.
    With a ``scope``, other processes that hold with the same one are kept out, too. Where the asking steps say that
    they can go back to reading (``again``), a runner may answer True: other processes are not kept out then, a value
    is replaced only if it is what was read last, and a ``ChangedMeanwhileError`` is thrown in at the ``Put`` where it
    is not.
    ``below`` names nodes of which all documents are held, and those of all nodes below them, also of such as are not
    there yet.
    """

    __slots__ = ("again", "below", "family", "keys", "scope")

    def __init__(
        self,
        keys: Sequence[str],
        family: Family = "chunk",
        scope: LockScope | None = None,
        again: bool = False,
        below: Sequence[str] = (),
    ) -> None:
        self.again = again
        self.below = below
        self.keys = keys
        self.family = family
        self.scope = scope


class Staged(Request):
    """Run steps whose changes all become visible together when the steps have ended, or not at all.

    Only to be asked of stores of which :func:`zarr.abc.stores.changes.stages` is true. The answer is the result of the
    steps. What they read is what the store will hold; a value of another place of the same store may not be among it.

    Parameters
    ----------
    steps : generator of requests
    path : str
        All keys that the steps change lie below it.
    replace : sequence of str
        Places, at or below ``path``, of which nothing old stays.
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
    """Run a bulk job of the compiled core over many keys; the answer is None (the job holds what came of it).

    Parameters
    ----------
    job : zarr_core job
        ``ReadJob``, ``WriteJob``, ``ShardReadJob`` or ``ShardWriteJob``.
    direction : "read" or "write"
    keys : zarr_core.KeyFormat
        Makes the keys; used as it is where the store is a folder of files.
    coords : zarr_core.Plan or zarr_core.ShardGroups
        What ``keys.keys(coords)`` turns into the list of all key names; only asked for where names are needed.
    slots : sequence of int, optional
        The slots (or groups) that the job goes over, where it does not go over all.
    count : int
        How many keys the job goes over.
    nbytes : int
        Decoded bytes that the job moves: the runner weighs worker threads and batches by it.
    locks : bool, optional
        Whether others who hold one of the keys are waited for, and kept waiting, as if each key were held while the
        job runs; by default if it writes.
    scope : LockScope, optional
        Whom these locks keep out besides the threads of this process.
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


class Stamp(Request):
    """Ask for something that changes whenever the value of a key does, without reading the value.

    The answer is the name of the store and a stamp that compares equal for one and the same value only; None where the
    store has no stamps, or has none for this value (there is none, or it is so new that it could not be told from the
    next one).
    """

    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key


class Await(Request):
    """Await a coroutine of somebody else (a codec, a pipeline); the answer is its result.

    ``factory`` is called by the runner, so that the coroutine is made where it will run.
    """

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Awaitable[Any]]) -> None:
        self.factory = factory
