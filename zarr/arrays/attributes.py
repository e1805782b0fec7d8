"""The attributes of a node as a mapping: reads come from memory, each change is one write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from zarr._lazy import load


class Attributes(MutableMapping[str, Any]):
    """The user's attributes of a node.

    Parameters
    ----------
    obj : Array, Group, store or mapping
        The node, which has ``metadata.attributes`` and ``_change_attributes(changes, removed, replace)``. Or a store,
        as in zarr-python 2.
    key : str
        With a store: the key of the document that has the attributes.
    read_only, cache : bool
        With a store: refuse changes; read the document only once.
    **words
        ``store``, another name of the first parameter; others have no effect.

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=3, dtype="int8")
    >>> array.attrs["unit"] = "m"
    >>> array.attrs.asdict()
    {'unit': 'm'}
    """

    def __init__(
        self, obj: Any = None, key: str = ".zattrs", read_only: bool = False, cache: bool = True, **words: Any
    ) -> None:
        if not hasattr(obj, "_change_attributes"):  # a store, as in zarr-python 2
            store = words.pop("store", obj)
            obj = load("zarr.attrs").StoredAttributes(store, key, read_only, cache)
        self._obj = obj
        self.cache = cache

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __getitem__(self, key: str) -> Any:
        return self._obj.metadata.attributes[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._obj._change_attributes({key: value})

    def __delitem__(self, key: str) -> None:
        if key not in self._obj.metadata.attributes:
            raise KeyError(key)
        self._obj._change_attributes({}, removed=(key,))

    def __iter__(self) -> Iterator[str]:
        return iter(self._obj.metadata.attributes)

    def __len__(self) -> int:
        return len(self._obj.metadata.attributes)

    def __contains__(self, key: object) -> bool:
        return key in self._obj.metadata.attributes

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add or replace several attributes in one write.

        Parameters
        ----------
        *args, **kwargs
            As for ``dict.update``.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=3, dtype="int8")
        >>> array.attrs.update({"a": 1}, b=2)
        >>> dict(array.attrs)
        {'a': 1, 'b': 2}
        """
        changes: dict[str, Any] = dict(*args, **kwargs)
        if changes:
            self._obj._change_attributes(changes)

    def put(self, d: Mapping[str, Any]) -> None:
        """Replace all attributes in one write.

        Parameters
        ----------
        d : mapping
            The new attributes; all others are removed.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=3, dtype="int8", attributes={"old": 1})
        >>> array.attrs.put({"new": 2})
        >>> dict(array.attrs)
        {'new': 2}
        """
        self._obj._change_attributes(dict(d), replace=True)

    def refresh(self) -> None:
        """Read the attributes again from the store, if other programs may have changed them.

        Examples
        --------
        >>> import zarr
        >>> array = zarr.create_array({}, shape=3, dtype="int8", attributes={"a": 1})
        >>> array.attrs.refresh()
        >>> dict(array.attrs)
        {'a': 1}
        """
        self._obj._read_attributes()

    @property
    def read_only(self) -> bool:
        """True if the store refuses every change."""
        return bool(self._obj.read_only)

    @property
    def store(self) -> Any:
        """The place where the attributes are stored."""
        return self._obj.store

    @property
    def key(self) -> str:
        """The key of their document; in format 3 it has the whole metadata."""
        if hasattr(self._obj, "key"):
            return str(self._obj.key)
        name = ".zattrs" if self._obj.metadata.zarr_format == 2 else "zarr.json"
        return f"{self._obj.path}/{name}" if self._obj.path else name

    def asdict(self) -> dict[str, Any]:
        """Return the attributes as a plain dict, a copy.

        Examples
        --------
        >>> import zarr
        >>> zarr.create_array({}, shape=3, dtype="int8", attributes={"a": 1}).attrs.asdict()
        {'a': 1}
        """
        return dict(self._obj.metadata.attributes)
