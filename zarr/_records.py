"""Make classes of immutable values, as ``dataclass(frozen=True)`` does, but without generating source code.

The decorator of the standard library writes the source of each method and compiles it, in every process anew; loading
the library would spend more time on that than on anything else. A record writes its own ``__init__`` (or inherits one)
and takes the other methods from here. For other code a record is a dataclass: ``fields``, ``replace``,
``is_dataclass``, ``match``, subclasses that are dataclasses and type checkers work. The parts of the module
``dataclasses`` that they need are made on their first use.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from zarr._lazy import dataclasses

__all__ = ["constructed_by", "field", "field_names", "record", "set_values"]

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from dataclasses import field
else:
    class field:
        """The description of one value, in the words of :func:`dataclasses.field`."""

        def __init__(self, **options: Any) -> None:
            self.options = options
    def record(*, frozen: bool, kw_only: bool = False, eq: bool = True) -> Callable[[type], type]:
        """Turn a class into one of immutable values, named by its annotations and set by its ``__init__``.

        Parameters
        ----------
        frozen
            Always True; it stands here for readers and type checkers that know the dataclasses of the standard library.
        kw_only
            If True, its values are given by name only, and so have no place in a pattern of ``match``.
        eq
            If True, objects with equal values are equal; else the class defines its own ``__eq__``.

        Examples
        --------
        >>> @record(frozen=True)
        ... class Point:
        ...     x: int
        ...     def __init__(self, x: int) -> None:
        ...         set_values(self, x=x)
        >>> Point(1), Point(1) == Point(1)
        (Point(x=1), True)
        """
        return lambda cls: _complete(cls, kw_only, eq)


def constructed_by(*names: str, frozen: bool) -> Callable[[type[T]], type[T]]:
    """Let other code take a class that is no record for a dataclass, with parameters of its ``__init__`` for fields.

    So ``dataclasses.replace`` makes a changed copy of an array or a group, and dask gives the same name to equal ones.

    Parameters
    ----------
    names
        Parameters of ``__init__`` that are also attributes.
    frozen
        Which dataclasses may have the class for a base: frozen ones, or the others.

    Examples
    --------
    >>> @constructed_by("x", frozen=True)
    ... class Point:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> dataclasses.replace(Point(1), x=2).x
    2
    """

    def complete(cls: Any) -> Any:
        own: dict[str, dict[str, Any]] = {name: {} for name in names}
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(cls, name, _Asked(cls, name, own, kinds=dict.fromkeys(names, Any), frozen=frozen))
        cls.__replace__ = _replace
        return cls

    return complete


def set_values(instance: object, **values: Any) -> None:
    """Set values of a record that is being made.

    Examples
    --------
    >>> class Plain: ...
    >>> plain = Plain()
    >>> set_values(plain, x=1)
    >>> plain.x
    1
    """
    instance.__dict__.update(values)


def field_names(instance: Any) -> list[str]:
    """Return the names of the fields of a record, or of a dataclass that has a record for a base.

    Examples
    --------
    >>> from zarr.codecs import ZstdCodec
    >>> field_names(ZstdCodec())
    ['level', 'checksum']
    """
    for cls in type(instance).__mro__:
        if "_record_fields" in vars(cls):
            return list(vars(cls)["_record_fields"])
        if "__dataclass_fields__" in vars(cls):
            break
    return [each.name for each in dataclasses.fields(instance)]


def _complete(cls: Any, kw_only: bool, eq: bool) -> Any:
    annotations = cls.__annotations__.items()
    own = {name: _options(cls, name, kw_only) for name, kind in annotations if not kind.startswith("ClassVar[")}
    # As in a dataclass, the bases are read from the last to the first, and a name keeps its first place.
    fields: dict[str, dict[str, Any]] = {}
    for base in cls.__mro__[:0:-1]:
        fields.update(getattr(base, "_record_fields", {}))
    fields.update(own)
    compared = [name for name, options in fields.items() if options.get("compare", True)]
    cls._record_fields = fields
    cls._record_values = attrgetter(*compared) if compared else staticmethod(_no_values)
    in_place = tuple([name for name, options in fields.items() if options.get("init", True) and not options["kw_only"]])
    kinds = {name: cls.__annotations__[name] for name in own}
    asked = {
        name: _Asked(cls, name, own, kinds, kw_only=kw_only, eq=eq)
        for name in ("__dataclass_fields__", "__dataclass_params__")
    }
    shared = {"__match_args__": in_place, **asked, **_METHODS, **(_EQUALITY if eq else {})}
    for name, method in shared.items():
        if vars(cls).get(name) is None:  # a class that defines __eq__ has None for a hash
            setattr(cls, name, method)
    return cls


def _options(cls: type, name: str, kw_only: bool) -> dict[str, Any]:
    """Describe a value; the class keeps its default, as a dataclass does."""
    options: dict[str, Any] = {"kw_only": kw_only}
    given: Any = vars(cls).get(name)
    if type(given) is field:
        delattr(cls, name)
        options |= given.options
    elif name in vars(cls):
        options["default"] = given
    if "default" in options:
        setattr(cls, name, options["default"])
    return options


class _Asked:
    """The fields that the module ``dataclasses`` keeps of a class, made when they are first read."""

    def __init__(
        self,
        home: Any,
        name: str,
        own: dict[str, dict[str, Any]],
        kinds: dict[str, Any],
        *,
        frozen: bool = True,
        kw_only: bool = False,
        eq: bool = False,
    ) -> None:
        self.home, self.name, self.own, self.kinds = home, name, own, kinds
        self.options = {"frozen": frozen, "kw_only": kw_only, "eq": eq}

    def __get__(self, instance: object, owner: type) -> Any:
        home = self.home  # the owner may be a subclass
        # A class that has the annotations and defaults of this one, and no bases that would react.
        members = {name: dataclasses.field(**options) for name, options in self.own.items()}
        # With a text of its own, for which the module would read the signature of the class.
        named = {"__module__": home.__module__, "__annotations__": self.kinds, "__doc__": home.__doc__ or home.__name__}
        like: Any = type(home.__name__, (), {**named, **members})
        dataclasses.dataclass(init=False, repr=False, **self.options)(like)
        inherited: dict[str, Any] = {}
        for base in home.__mro__[:0:-1]:
            inherited.update(getattr(base, "__dataclass_fields__", {}))
        home.__dataclass_fields__ = inherited | like.__dataclass_fields__
        home.__dataclass_params__ = like.__dataclass_params__
        return getattr(home, self.name)


def _no_values(instance: object) -> tuple[()]:
    return ()


def _refuse_if_field(instance: Any, name: str, action: str) -> None:
    # A subclass that is no record itself may have more attributes, and change those.
    kind = type(instance)
    if "_record_fields" in vars(kind) or name in kind._record_fields:
        raise dataclasses.FrozenInstanceError(f"cannot {action} field {name!r}")


def _setattr(self: Any, name: str, value: object) -> None:
    _refuse_if_field(self, name, "assign to")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:
    _refuse_if_field(self, name, "delete")
    object.__delattr__(self, name)


def _repr(self: Any) -> str:
    shown = [name for name, options in self._record_fields.items() if options.get("repr", True)]
    values = [f"{name}={getattr(self, name)!r}" for name in shown]
    return f"{type(self).__qualname__}({', '.join(values)})"


def _replace(self: Any, /, **changes: Any) -> Any:
    return dataclasses.replace(self, **changes)


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._record_values(self) == self._record_values(other)


def _hash(self: Any) -> int:
    return hash(self._record_values(self))


_METHODS: dict[str, Any] = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__repr__": _repr,
    "__replace__": _replace,
}
_EQUALITY: dict[str, Any] = {"__eq__": _eq, "__hash__": _hash}
