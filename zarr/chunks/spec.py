"""The description of a chunk for codecs: shape, dtype, fill value, run-time configuration, buffers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Self, TypeAlias, TypedDict, cast

import numpy as np

from zarr._records import record
from zarr.buffer import BufferPrototype
from zarr.defaults import settings
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType
from zarr.types import MemoryOrder, parse_bool, parse_int, parse_order, parse_shapelike


class ArrayConfigParams(TypedDict):
    """The fields of ``ArrayConfig`` as a plain dict."""

    order: MemoryOrder
    write_empty_chunks: bool
    read_missing_chunks: bool
    missing_chunk_retries: int
    missing_chunk_delay: float
    sharding_coalesce_max_gap_bytes: int
    sharding_coalesce_max_bytes: int
    locking: str
    chunk_cache_bytes: int
    immutable: bool


def parse_locking(data: object) -> str:
    """Return the checked value of ``locking``.

    Raises
    ------
    ValueError
        If it is neither "auto", "thread", "process" nor "process:" and a folder.

    Examples
    --------
    >>> parse_locking("process")
    'process'
    """
    names_folder = isinstance(data, str) and data.startswith("process:") and len(data) > len("process:")
    if isinstance(data, str) and (names_folder or data in {"auto", "thread", "process"}):
        return data
    raise ValueError(f"locking must be 'auto', 'thread', 'process' or 'process:<folder>', got {data!r}")


def parse_cache_bytes(data: object) -> int:
    """Return the checked number of bytes of decoded chunks to keep.

    Raises
    ------
    ValueError
        If it is negative.

    Examples
    --------
    >>> parse_cache_bytes(1 << 20)
    1048576
    """
    nbytes = parse_int(data)
    if nbytes < 0:
        raise ValueError(f"chunk_cache_bytes must be 0 (no cache) or more, got {nbytes}")
    return nbytes


def parse_retries(data: object) -> int:
    """Return the checked number of further reads of a missing chunk.

    Raises
    ------
    ValueError
        If it is not from 0 to 100.

    Examples
    --------
    >>> parse_retries(3)
    3
    """
    retries = parse_int(data)
    if not 0 <= retries <= MOST_RETRIES:
        raise ValueError(f"missing_chunk_retries must be from 0 to {MOST_RETRIES}, got {retries}")
    return retries


def parse_delay(data: object) -> float:
    """Return the checked number of seconds before a missing chunk is read again.

    Raises
    ------
    ValueError
        If it is no number from 0 to 10.

    Examples
    --------
    >>> parse_delay(1)
    1.0
    """
    if isinstance(data, bool) or not isinstance(data, int | float) or not 0 <= data <= LONGEST_DELAY:
        raise ValueError(f"missing_chunk_delay must be a number of seconds from 0 to {LONGEST_DELAY}, got {data!r}")
    return float(data)


MOST_RETRIES, LONGEST_DELAY = 100, 10.0
_CONFIG_KEYS = tuple(ArrayConfigParams.__annotations__)
_CONFIG_VALUES = itemgetter(*_CONFIG_KEYS)


@record(frozen=True)
class ArrayConfig:
    """The behaviour of an array at run time; not stored with it.

    Parameters
    ----------
    order
        Memory order of the arrays that reads return. By default "C".
    write_empty_chunks
        If True, a chunk that holds only the fill value is written. If False, the default, it is deleted.
    read_missing_chunks
        If True, the default, an absent chunk reads as the fill value. If False, it is an error.
    missing_chunk_retries, missing_chunk_delay
        Number of further reads before a chunk counts as absent, for stores that show written values only after some
        time; and the seconds before the first of them. The wait doubles each time, up to 10 seconds. By default 0 and
        0.1.
    sharding_coalesce_max_gap_bytes, sharding_coalesce_max_bytes
        Reads of inner chunks of a shard become one request if at most the first number of unneeded bytes lie between
        them, and the request stays below the second number. By default 1 MiB and 16 MiB.
    locking
        The lock scope: the writers that wait for each other when chunks are written, and when an array is resized,
        grows or gets other attributes. "thread" locks out threads and tasks of this process, which every value does.
        "auto", the default, locks out other processes, too, if the store is a folder, an SQLite or an LMDB database on
        a local file system of Linux (ext4, XFS, Btrfs, ZFS, tmpfs and some more); such locks leave no file. In object
        stores (``ObjectStore``, and ``FsspecStore`` over S3, Google and Azure) parts of chunks and documents are
        replaced only if they are still those that were read, else read and changed again. "process" locks out other
        processes with this setting in every store, or raises an error: the system locks local folders and databases; an
        object store that compares before it stores keeps objects that serve as locks. (The setting
        ``array.lock_lease_seconds`` is the time after which those of a dead process expire. Clocks need not agree, only
        run at about the same rate.) "process:<folder>" does the same by lock files in a folder, among the processes
        that name the same folder. Removals, and changes below a removed node, exclude each other as well.
    chunk_cache_bytes
        Bytes of decoded chunks that are kept in this process, for reads that touch few chunks. By default 0: none. They
        are used only while the stamp of the stored value is the same, so changes by any writer are seen: the stamp of a
        local folder is time, size and inode of the file, that of a store in memory the object. Chunks of stores without
        stamps are not kept.
    immutable
        If True, nothing that is stored changes while the array is open: that is a promise of the user. Indexes of
        shards, and decoded chunks if they are kept, are used again without a question to the store, also on object
        stores, where an inner chunk then takes one request instead of two. If another program replaces a shard
        nevertheless, reads return wrong values or raise an error. Writing to the array is refused. By default False.

    Examples
    --------
    >>> ArrayConfig(order="C", write_empty_chunks=False).read_missing_chunks
    True
    """

    order: MemoryOrder
    write_empty_chunks: bool
    read_missing_chunks: bool
    missing_chunk_retries: int
    missing_chunk_delay: float
    sharding_coalesce_max_gap_bytes: int
    sharding_coalesce_max_bytes: int
    locking: str
    chunk_cache_bytes: int
    immutable: bool

    def __init__(
        self,
        order: MemoryOrder,
        write_empty_chunks: bool,
        *,
        read_missing_chunks: bool = True,
        missing_chunk_retries: int = 0,
        missing_chunk_delay: float = 0.1,
        sharding_coalesce_max_gap_bytes: int = 1 << 20,
        sharding_coalesce_max_bytes: int = 16 << 20,
        locking: str = "auto",
        chunk_cache_bytes: int = 0,
        immutable: bool = False,
    ) -> None:
        object.__setattr__(self, "order", parse_order(order))
        object.__setattr__(self, "write_empty_chunks", parse_bool(write_empty_chunks))
        object.__setattr__(self, "read_missing_chunks", parse_bool(read_missing_chunks))
        object.__setattr__(self, "missing_chunk_retries", parse_retries(missing_chunk_retries))
        object.__setattr__(self, "missing_chunk_delay", parse_delay(missing_chunk_delay))
        object.__setattr__(self, "sharding_coalesce_max_gap_bytes", parse_int(sharding_coalesce_max_gap_bytes))
        object.__setattr__(self, "sharding_coalesce_max_bytes", parse_int(sharding_coalesce_max_bytes))
        object.__setattr__(self, "locking", parse_locking(locking))
        object.__setattr__(self, "chunk_cache_bytes", parse_cache_bytes(chunk_cache_bytes))
        object.__setattr__(self, "immutable", parse_bool(immutable))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickle; those of zarr-python have fewer fields."""
        vars(self).update(vars(type(self)(**state)))

    @classmethod
    def from_dict(cls, data: ArrayConfigParams | Mapping[str, Any]) -> Self:
        """Return a configuration from some of its fields; the others come from ``zarr.config``.

        Raises
        ------
        TypeError
            If there is a key that is no field.

        Examples
        --------
        >>> ArrayConfig.from_dict({"order": "F"}).order
        'F'
        """
        unknown = [key for key in data if key not in _CONFIG_KEYS]
        if unknown:
            raise TypeError(f"Unknown array config keys: {unknown}. Valid keys are {list(_CONFIG_KEYS)}.")
        values = {key: data[key] if key in data else settings.get(f"array.{key}") for key in _CONFIG_KEYS}  # type: ignore[literal-required]
        return cls(**values)

    def to_dict(self) -> ArrayConfigParams:
        """Return the fields as a dict.

        Examples
        --------
        >>> ArrayConfig("C", True).to_dict()["write_empty_chunks"]
        True
        """
        return cast("ArrayConfigParams", {name: getattr(self, name) for name in _CONFIG_KEYS})


ArrayConfigLike: TypeAlias = ArrayConfig | ArrayConfigParams


def parse_array_config(data: ArrayConfigLike | Mapping[str, Any] | None) -> ArrayConfig:
    """Return a configuration: the given one, or the given fields over the defaults of ``zarr.config``.

    Examples
    --------
    >>> parse_array_config({"write_empty_chunks": True}).write_empty_chunks
    True
    """
    if isinstance(data, ArrayConfig):
        return data
    if data:
        return ArrayConfig.from_dict(data)
    # Every opened array needs this: one look-up of the section, and one frozen object for equal settings.
    return _config_of(*_CONFIG_VALUES(settings.values["array"]))


def config_with(config: ArrayConfigLike | Mapping[str, Any] | None, **fields: Any) -> dict[str, Any]:
    """Return a configuration as a dict with other values of some fields; fields that were open stay open.

    Examples
    --------
    >>> config_with({"order": "F"}, locking="thread")
    {'order': 'F', 'locking': 'thread'}
    """
    given = config.to_dict() if isinstance(config, ArrayConfig) else config or {}
    return {**given, **fields}


@lru_cache(maxsize=16, typed=True)
def _config_of(*values: Any) -> ArrayConfig:
    return ArrayConfig(**dict(zip(_CONFIG_KEYS, values, strict=True)))


@record(frozen=True, eq=False)
class ArraySpec:
    """The description of one chunk (or of any array that a codec receives).

    Parameters
    ----------
    shape
        The shape for the codec.
    dtype
        The data type.
    fill_value
        The value of absent elements, as a scalar.
    config
        The run-time configuration of the array.
    prototype
        The classes that hold bytes and elements.

    Examples
    --------
    >>> from zarr.buffer import default_buffer_prototype
    >>> from zarr.dtype import Int8
    >>> ArraySpec((2, 3), Int8(), 0, parse_array_config(None), default_buffer_prototype()).ndim
    2
    """

    shape: tuple[int, ...]
    dtype: ZDType[TBaseDType, TBaseScalar]
    fill_value: Any
    config: ArrayConfig
    prototype: BufferPrototype

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: ZDType[TBaseDType, TBaseScalar],
        fill_value: Any,
        config: ArrayConfig,
        prototype: BufferPrototype,
    ) -> None:
        lengths = parse_shapelike(shape)
        # The class is frozen, so its fields are set through ``__dict__``, all at once.
        self.__dict__.update(shape=lengths, dtype=dtype, fill_value=fill_value, config=config, prototype=prototype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def order(self) -> MemoryOrder:
        """The memory order of the configuration."""
        return self.config.order

    def _identity(self) -> tuple[Any, ...]:
        # A NaN is not equal to itself, and zeros of both signs are equal: so the bytes of a NumPy scalar are compared.
        fill: Any = self.fill_value
        if isinstance(fill, np.generic) and not fill.dtype.hasobject:
            fill = (fill.dtype.str, fill.tobytes())
        elif isinstance(fill, float) and fill != fill:
            fill = ("nan",)
        return self.shape, self.dtype, fill, self.config, self.prototype

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArraySpec):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())
