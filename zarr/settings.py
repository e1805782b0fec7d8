"""The ``zarr.config`` object: defaults, files and environment variables, read through donfig.

Users use this object; the library itself reads ``zarr.defaults``, which loads this module if there is a file or a
variable to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, Final

from donfig import Config as DonfigConfig

from zarr.defaults import CODEC_CLASSES, DEFAULTS, NUMCODECS_CLASSES, BadConfigError, settings

__all__ = [
    "CODEC_CLASSES",
    "NUMCODECS_CLASSES",
    "RULES",
    "BadConfigError",
    "BadSettingError",
    "Config",
    "check_settings",
    "config",
    "deprecations",
]

# Keys of earlier versions; donfig refuses them by name, so that they are not ignored silently.
deprecations: Final[dict[str, str | None]] = dict.fromkeys(
    [
        *(f"array.v2_default_compressor.{kind}" for kind in ("numeric", "string", "bytes")),
        *(f"array.v2_default_filters.{kind}" for kind in ("string", "bytes")),
        *(f"array.v3_default_filters.{kind}" for kind in ("numeric", "raw", "bytes")),
        *(f"array.v3_default_serializer.{kind}" for kind in ("numeric", "string", "bytes")),
        *(f"array.v3_default_compressors{kind}" for kind in (".string", ".bytes", "")),
    ]
)


class BadSettingError(BadConfigError, TypeError):
    """A setting has a value that cannot be used for it; for zarr-python that is sometimes a ``TypeError``."""


def _at_least(least: float, none: bool = False, kind: type = Integral) -> tuple[str, Callable[[Any], bool]]:
    """Return a check that a setting is a number of at least ``least``, or None for no limit, with its text."""

    def fits(value: Any) -> bool:
        if value is None:
            return none
        return isinstance(value, kind) and not isinstance(value, bool) and bool(value >= least)  # type: ignore[operator]

    what = "a whole number" if kind is Integral else "a number"
    return f"{what} of {least} or more{', or None' if none else ''}", fits


def _one_of(*values: Any) -> tuple[str, Callable[[Any], bool]]:
    return " or ".join(map(repr, values)), lambda value: any(type(value) is not bool and value == v for v in values)


_BOOL: Final = ("True or False", lambda value: isinstance(value, bool))
_TEXT: Final = ("the name of a class", lambda value: isinstance(value, str))
# Settings that are not ours may have any value; so may those that are checked at their use.
RULES: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "default_zarr_format": _one_of(2, 3),
    "array.order": _one_of("C", "F"),
    "array.write_empty_chunks": _BOOL,
    "array.read_missing_chunks": _BOOL,
    "array.rectilinear_chunks": _BOOL,
    "array.array_namespace": _BOOL,
    "array.missing_chunk_retries": _at_least(0),
    "array.missing_chunk_delay": _at_least(0, kind=Real),
    "array.target_shard_size_bytes": _at_least(1, none=True),
    "array.sharding_coalesce_max_gap_bytes": _at_least(0),
    "array.sharding_coalesce_max_bytes": _at_least(0),
    "array.variable_chunk_bytes": _at_least(0),
    "array.lock_lease_seconds": _at_least(0, kind=Real),
    "array.chunk_cache_bytes": _at_least(0),
    "array.index_cache_bytes": _at_least(0),
    "async.concurrency": _at_least(1, none=True),
    "async.timeout": _at_least(0, none=True, kind=Real),
    "network.tries": _at_least(1),
    "network.seconds": _at_least(0, kind=Real),
    "network.request_seconds": _at_least(0.001, kind=Real),
    "threading.max_workers": _at_least(1, none=True),
    "json_indent": ("a whole number, a text, or None", lambda v: v is None or isinstance(v, Integral | str)),
    "codec_pipeline.path": _TEXT,
    "codec_pipeline.batch_size": _at_least(1),
    "codec_pipeline.max_workers": _at_least(1, none=True),
    "buffer": _TEXT,
    "ndbuffer": _TEXT,
}


def _flat(given: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Return each setting of nested mappings by its name with dots."""
    for key, value in given.items():
        name = above + str(key).replace("-", "_")
        if isinstance(value, Mapping):
            yield from _flat(value, name + ".")
        else:
            yield name, value


def check_settings(given: Mapping[str, Any]) -> None:
    """Refuse values that cannot be used for settings of the library; other names may have any value.

    Raises
    ------
    BadSettingError

    Examples
    --------
    >>> check_settings({"codec_pipeline.batch_size": 0})
    Traceback (most recent call last):
        ...
    zarr.settings.BadSettingError: the setting 'codec_pipeline.batch_size' must be a whole number of 1 or more, got 0
    """
    for name, value in _flat(given):
        what, fits = RULES.get(name, ("", bool))
        if what and not fits(value):
            raise BadSettingError(f"the setting {name!r} must be {what}, got {value!r}")


class Config(DonfigConfig):  # type: ignore[misc]
    """The settings of the library; the object ``zarr.config`` holds them.

    ``config.get("array.order")`` reads a setting. ``config.set({"array.order": "F"})`` changes it for the rest of the
    program; in a ``with`` statement it changes it until the end of the block. Settings are also read from environment
    variables (``ZARR_ARRAY__ORDER=F``) and from YAML files in ``~/.config/zarr``: when a setting is first read, and by
    :meth:`refresh`.

    Attributes
    ----------
    default_zarr_format : 2 or 3
        Format of new arrays and groups. By default 3. ``zarr.create_array`` and ``from_array`` do not use it: they
        create format 3 unless ``zarr_format`` is given, as in zarr-python.
    array.order, array.write_empty_chunks, array.locking and others
        Behaviour of arrays that are opened or created. Each parameter of :class:`zarr.core.array_spec.ArrayConfig` is a
        setting ``array.<name>``, with the meaning and the default that are described there.
    array.lock_lease_seconds : float
        Seconds after which a lock of a process that ended is free, in object stores. By default 20.
    array.target_shard_size_bytes : int or None
        Greatest size of a shard that ``shards="auto"`` chooses. By default None: two chunks along each long axis.
    array.rectilinear_chunks : bool
        True if arrays may have chunks of several lengths. By default True.
    array.variable_chunk_bytes : int
        Largest size to which a chunk of elements of variable length may decode, for any number of stored bytes. By
        default 256 MiB.
    array.index_cache_bytes : int
        Largest number of bytes of indexes of shards in each of two caches: of files, and of other stores. By default
        64 MiB. 0 keeps none.
    array.allow_unsafe_pickle_decode : bool or None
        True if pickled objects are read, which can run any code. By default None: only if numcodecs may do so
        (``numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE``). False forbids it also then.
    array.array_namespace : bool
        True if arrays offer the Python array API standard (``__array_namespace__``). By default False.
    async.concurrency : int or None
        Largest number of requests under way in one event loop. By default 128. None sets no limit.
    async.timeout : float or None
        Seconds that a call waits for coroutines of a store. By default None: without end.
    network.tries : int
        Number of tries of a request to a web server or an object store before an error is raised. By default 16.
    network.seconds : float
        Seconds after which no further try begins. By default 180.
    network.request_seconds : float
        Seconds without any bytes after which the answer to one request counts as failed. By default 60.
    threading.max_workers, codec_pipeline.max_workers : int or None
        Largest number of threads that read, write and encode. By default None: the number of processors.
    codec_pipeline.path : str
        Class of the codec pipeline. By default that of this library.
    codec_pipeline.batch_size : int
        How many chunks a pipeline of another package gets at once. By default 1.
    json_indent : int, str or None
        Indentation of metadata documents. By default 2, with one line for each node in consolidated metadata.
    codecs : dict
        Class of each codec, by the codec's name.
    buffer, ndbuffer : str
        Classes that hold bytes and elements. By default those in CPU memory.

    Raises
    ------
    BadSettingError
        If a setting gets a value that cannot be used for it.
    KeyError
        If ``get`` is called with an unknown name and no default.

    Examples
    --------
    >>> with config.set({"array.order": "F"}):
    ...     config.get("array.order")
    'F'
    >>> config.get("array.order")
    'C'
    """

    def set(self, arg: Mapping[str, Any] | None = None, **kwargs: Any) -> Any:
        """Change settings, for the rest of the program or inside a ``with`` block.

        Parameters
        ----------
        arg : mapping, optional
            Settings by their names with dots, or nested.
        **kwargs
            The same, with ``__`` in the place of each dot.

        Raises
        ------
        BadSettingError
            If a setting of the library gets a value that cannot be used for it; nothing is changed then.

        Examples
        --------
        >>> with config.set({"json_indent": 4}):
        ...     config.get("json_indent")
        4
        """
        check_settings({**(arg or {}), **{name.replace("__", "."): value for name, value in kwargs.items()}})
        return super().set(arg, **kwargs)

    def refresh(self, **kwargs: Any) -> None:
        """Read the defaults, files and environment again.

        Raises
        ------
        BadSettingError
            If a file or the environment gives a setting of the library a value that cannot be used for it.
        """
        super().refresh(**kwargs)
        try:
            check_settings(self.config)
        except BadSettingError as error:
            error.add_note("It comes from a file of settings, or from an environment variable ZARR_…")
            raise

    def reset(self) -> None:
        """Go back to the defaults, the files and the environment.

        Examples
        --------
        >>> config.reset()
        """
        self.clear()
        self.refresh()

    def enable_gpu(self) -> Any:
        """Hold array data in GPU memory from now on, or inside a ``with`` block.

        Returns
        -------
        A context manager; leaving it goes back to CPU memory.

        Examples
        --------
        >>> with config.enable_gpu():
        ...     config.get("buffer")
        'zarr.buffer.gpu.Buffer'
        """
        return self.set({"buffer": "zarr.buffer.gpu.Buffer", "ndbuffer": "zarr.buffer.gpu.NDBuffer"})

    def __reduce__(self) -> tuple[Any, ...]:
        # The environment and the lock stay in the process; the values are pickled.
        return _restore, (self.name, self.to_dict())


def _restore(name: str, values: dict[str, Any]) -> Config:
    restored = Config(name, defaults=[DEFAULTS], deprecations=deprecations, paths=[], env={})
    restored.update(values)
    return restored


config: Final[Config] = Config("zarr", defaults=[DEFAULTS], deprecations=deprecations)
# From now on the library reads this object, too.
settings.values = config.config
