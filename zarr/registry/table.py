"""One table of implementations, and the entry points that fill it."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from zarr._lazy import LazyModule, load
from zarr.errors import ZarrUserWarning
from zarr.notices import warn
from zarr.registry.changes import Changes

if TYPE_CHECKING:
    from importlib import metadata
    from importlib.metadata import EntryPoint
else:
    metadata = LazyModule("importlib.metadata")

T = TypeVar("T")


def fully_qualified_name(cls: type) -> str:
    """Return the dotted path of a class.

    Examples
    --------
    >>> fully_qualified_name(dict)
    'builtins.dict'
    """
    return f"{cls.__module__}.{cls.__qualname__}"


def import_path(path: str) -> Any:
    module, _, attribute = path.rpartition(".")
    return getattr(load(module), attribute)


@cache
def entry_points_by_group() -> Mapping[str, tuple[EntryPoint, ...]]:
    """All entry points for zarr that installed packages offer, by group."""
    found = metadata.entry_points()
    names = [group for group in found.groups if group == "zarr" or group.startswith("zarr.")]
    return {group: tuple(found.select(group=group)) for group in names}


def entry_points_for(kind: str, *, plural_names: bool = False) -> list[EntryPoint]:
    """Return the entry points of one kind of extension.

    Parameters
    ----------
    kind
        ``codecs``, ``data_type``, ``buffer`` and so on: the entry points of the group ``zarr.<kind>``, and those of
        the group ``zarr`` that are named ``<kind>``.
    plural_names
        Whether groups ``zarr.<kind>.<name>`` count too.

    Examples
    --------
    >>> entry_points_for("no-such-kind")
    []
    """
    groups = entry_points_by_group()
    found = list(groups.get(f"zarr.{kind}", ()))
    found += [point for point in groups.get("zarr", ()) if point.name == kind]
    if plural_names:
        for group, points in groups.items():
            if group.startswith(f"zarr.{kind}."):
                found += points
    return found


def load_entry_point(point: EntryPoint) -> Any | None:
    """Load what an entry point names; a failure is a warning that names it, and None.

    Examples
    --------
    >>> from importlib.metadata import EntryPoint
    >>> load_entry_point(EntryPoint("d", "builtins:dict", "zarr.codecs"))
    <class 'dict'>
    """
    try:
        return point.load()
    except Exception as error:  # a plugin may raise anything when it is imported
        told = (
            f"The entry point {point.name!r} = {point.value!r} of group {point.group!r}{_of_package(point)} cannot be "
            f"loaded and is left out: {type(error).__name__}: {error}"
        )
        _FAILURES[point.name] = told
        warn(told, ZarrUserWarning)
        return None


_FAILURES: dict[str, str] = {}
_LOADING: set[tuple[int, int]] = set()


def load_waiting(waiting: list[EntryPoint]) -> Iterator[tuple[EntryPoint, Any]]:
    """Load entry points and take them off their list, each when its class has been registered.

    So a thread that looks for one meanwhile loads it, too, and does not miss it.
    """
    for point in list(waiting):
        mine = (get_ident(), id(point))
        if mine in _LOADING:  # asked for while its own module is being imported
            continue
        _LOADING.add(mine)
        try:
            cls = load_entry_point(point)
            if cls is not None:
                yield point, cls
        finally:
            _LOADING.discard(mine)
        with suppress(ValueError):
            waiting.remove(point)


def _of_package(point: EntryPoint) -> str:
    package = getattr(getattr(point, "dist", None), "name", None)
    return f" (package {package!r})" if package else ""


def failure_of(name: str) -> str:
    """What to add to the message that there is nothing of a name: an installed package offers it, but is broken.

    Examples
    --------
    >>> failure_of("no-such-name")
    ''
    """
    return f" {_FAILURES[name]}." if name in _FAILURES else ""


class Registry(dict[str, type[T]], Generic[T]):
    """Implementations of one thing, by qualified name.

    Entries are classes that were registered. Besides, ``lazy_load_list`` holds entry points that were not loaded yet,
    and ``builtins`` dotted paths that were not imported yet.

    Examples
    --------
    >>> registry = Registry()
    >>> registry.register(dict)
    >>> list(registry)
    ['builtins.dict']
    """

    def __init__(self) -> None:
        super().__init__()
        self.lazy_load_list: list[EntryPoint] = []
        self.builtins: dict[str, str] = {}

    def register(self, cls: type[T], qualname: str | None = None) -> None:
        """Add a class under its qualified name, or under another one."""
        self[fully_qualified_name(cls) if qualname is None else qualname] = cls
        Changes.note()

    def lazy_load(self, use_entrypoint_name: bool = False) -> None:
        """Load the entry points that wait, under the names of their classes or under their own."""
        for point, cls in load_waiting(self.lazy_load_list):
            self.register(cls, point.name if use_entrypoint_name else None)

    def find(self, name: str) -> type[T] | None:
        """Return the class of a qualified name, importing it if it is a built-in; None if there is none."""
        found = self.get(name)
        if found is None and name in self.builtins:
            found = cast("type[T]", import_path(self.builtins[name]))
            self[name] = found
        return found

    def known(self) -> list[str]:
        """Return the sorted names of all implementations."""
        return sorted({*self, *self.builtins})
