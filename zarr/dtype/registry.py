"""Names and classes of data types, and the search for a NumPy dtype or a JSON form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from zarr._lazy import LazyModule, instance_of
from zarr._records import field, record, set_values
from zarr.dtype.base import TBaseDType, TBaseScalar, ZDType, canonical
from zarr.dtype.scalars import DTypeJSON, ZarrFormat, is_sequence, split_dtype_spec_v3
from zarr.errors import DataTypeValidationError
from zarr.registry.tables import Changes, entry_points_by_group, entry_points_for, failure_of, import_path, load_waiting

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import numpy.typing as npt

    from zarr.dtype.json_forms import ZDTypeLike
    from zarr.dtype.types import binary, small, text
else:
    binary = LazyModule("zarr.dtype.types.binary")
    text = LazyModule("zarr.dtype.types.text")
    small = LazyModule("zarr.dtype.types.small")


_MOST_KNOWN = 512
# The order matters if several classes fit: the first one is used.
_BUILT_IN: Final = (
    (
        "zarr.dtype.types.numbers",
        "Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64 Complex64 Complex128",
    ),
    ("zarr.dtype.types.text", "FixedLengthUTF32 VariableLengthUTF8"),
    ("zarr.dtype.types.binary", "RawBytes NullTerminatedBytes VariableLengthBytes"),
    ("zarr.dtype.types.structured", "Struct"),
    ("zarr.dtype.types.times", "DateTime64 TimeDelta64"),
)
# Without names: whole families of JSON forms. They are not among the named types that other packages iterate over.
_FAMILIES: Final = (
    ("zarr.dtype.types.binary", "RawBits"),
    ("zarr.dtype.types.text", "PythonObject"),
    ("zarr.dtype.types.small", "SmallInt SmallFloat SmallComplex"),
    ("zarr.dtype.types.nullable", "Nullable"),
)
# Numbers, by numpy's letter and width: these classes are used while nothing else is registered.
_NUMBERS: Final[dict[str, str]] = {
    "b1": "Bool", "f2": "Float16", "f4": "Float32", "f8": "Float64",
    "c8": "Complex64", "c16": "Complex128",
    **{f"i{n}": f"Int{8 * n}" for n in (1, 2, 4, 8)},
    **{f"u{n}": f"UInt{8 * n}" for n in (1, 2, 4, 8)},
}  # fmt: skip
_NUMBERS_BY_NAME: Final = {name.lower(): name for name in _NUMBERS.values()}


def _classes(table: Iterable[tuple[str, str]]) -> list[type[ZDType[Any, Any]]]:
    return [import_path(f"{module}.{name}") for module, names in table for name in names.split()]


def _code_of(data: DTypeJSON, zarr_format: ZarrFormat) -> str | None:
    """Return the module of the class of a number, by its JSON form; None for other data types."""
    if zarr_format == 3:
        return _NUMBERS_BY_NAME.get(data) if type(data) is str else None
    name = data.get("name") if type(data) is dict and data.get("object_codec_id") is None else None
    if type(name) is not str or name[:1] not in (("|",) if name[2:] == "1" else ("<", ">")):
        return None
    return _NUMBERS.get(name[1:])


@record(frozen=True, kw_only=True)
class DataTypeRegistry:
    """Data types by name.

    Entry points of other packages in the group ``zarr.data_type`` are loaded if a search among the other data types
    finds nothing.

    Attributes
    ----------
    contents
        The classes by name.
    families
        Classes for a family of JSON forms, without names; they are tried last.

    Examples
    --------
    >>> from zarr.dtype import data_type_registry
    >>> data_type_registry.get("int8").__name__
    'Int8'
    """

    contents: dict[str, type[ZDType[TBaseDType, TBaseScalar]]] = field(init=False)
    families: list[type[ZDType[Any, Any]]] = field(default_factory=list, init=False, repr=False, compare=False)
    _lazy_load_list: list[EntryPoint] = field(default_factory=list, init=False, repr=False)
    _known: dict[tuple[Any, ...], ZDType[Any, Any] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _state: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __init__(self, *, _built_in: bool = False) -> None:
        set_values(self, families=[], _lazy_load_list=[], _known={}, _state={})
        if not _built_in:
            set_values(self, contents={})

    def __getattr__(self, name: str) -> Any:
        # All built-in types are loaded when the contents are read: most arrays have numbers.
        if name != "contents":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = vars(self).setdefault(name, {cls._zarr_v3_name: cls for cls in _classes(_BUILT_IN)})
        families = _classes(_FAMILIES)
        self.families[:] = [*families, *(cls for cls in self.families if cls not in families)]
        return found

    def is_plain_number(self, name: str) -> bool:
        """Return True if a string is NumPy's for a number, and no registered type could be meant.

        Parameters
        ----------
        name : str
            The name of a data type.

        Returns
        -------
        bool

        Examples
        --------
        >>> from zarr.dtype import DataTypeRegistry
        >>> DataTypeRegistry().is_plain_number("float32")
        False
        """
        return name[name[:1] in ("<", ">", "=", "|") :] in _NUMBERS and "contents" not in vars(self)

    def _number(self, path: str | None) -> type[ZDType[Any, Any]] | None:
        """Return the class of a number while no other class is loaded or registered."""
        return None if path is None or "contents" in vars(self) else import_path(f"zarr.dtype.types.numbers.{path}")

    def _lazy_load(self) -> None:
        offered = entry_points_by_group()  # the same object until entry points are searched again
        if self._state.get("offered") is not offered:
            self._lazy_load_list.extend(entry_points_for("data_type"))
            self._state["offered"] = offered
        for point, cls in load_waiting(self._lazy_load_list):
            self.register(getattr(cls, "_zarr_v3_name", point.name), cls)

    def register(self, key: str, cls: type[ZDType[TBaseDType, TBaseScalar]]) -> None:
        """Register a class under a name; a class of that name is replaced.

        Parameters
        ----------
        key : str
            The name.
        cls : type[ZDType[TBaseDType, TBaseScalar]]
            The class to register.

        Examples
        --------
        >>> from zarr.dtype import DataTypeRegistry, Int8
        >>> DataTypeRegistry().register("int8", Int8)
        """
        self.contents[key] = cls
        Changes.note()

    def unregister(self, key: str) -> None:
        """Remove a name.

        Parameters
        ----------
        key : str
            The registered name.

        Raises
        ------
        KeyError
            If it is not registered.
        """
        if key not in self.contents:
            raise KeyError(f"Data type '{key}' not found in registry.")
        del self.contents[key]
        Changes.note()

    def get(self, key: str) -> type[ZDType[TBaseDType, TBaseScalar]]:
        """Return the class of a name.

        Raises
        ------
        KeyError
            If there is none.
        """
        if key not in self.contents:
            self._lazy_load()
        return self.contents[key]

    def match_dtype(self, dtype: TBaseDType) -> ZDType[TBaseDType, TBaseScalar]:
        """Return the data type of a numpy dtype.

        Parameters
        ----------
        dtype : TBaseDType
            A data type of NumPy.

        Returns
        -------
        ZDType

        Raises
        ------
        ValueError
            If there is none, or if there are several because the dtype is that of Python objects.

        Examples
        --------
        >>> from zarr.dtype import data_type_registry
        >>> data_type_registry.match_dtype(np.dtype("i4"))
        Int32(endianness='little')
        """
        if type(dtype) is np.dtypes.ObjectDType:
            raise ValueError(
                f"Zarr data type resolution from {dtype} failed. Attempted to resolve a zarr data type from a numpy "
                '"Object" data type, which is ambiguous, as multiple zarr data types can be represented by the numpy '
                '"Object" data type. In this case you should construct your array by providing a specific Zarr data '
                'type: "string" for text, zarr.dtype.VariableLengthBytes() for bytes. Where data= gives '
                "the data type, take data.astype(numpy.dtypes.StringDType()) for text."
            )
        found = self._try_dtype(canonical(dtype))
        if found is None:
            self._lazy_load()
            found = self._try_dtype(dtype)
        if found is None:
            raise ValueError(f"No Zarr data type found that matches dtype '{dtype!r}'")
        return found

    def _try_dtype(self, dtype: np.dtype[Any]) -> ZDType[TBaseDType, TBaseScalar] | None:
        number = self._number(_NUMBERS.get(dtype.str[1:])) if dtype.kind in "biufc" else None
        if number is not None and number.dtype_cls is type(dtype):
            return number.from_native_dtype(dtype)
        for cls in [*self.contents.values(), *self.families]:
            if getattr(cls, "dtype_cls", type(dtype)) is not type(dtype):
                continue
            try:
                return cls.from_native_dtype(dtype)
            except DataTypeValidationError:
                continue
        return None

    def match_json(self, data: DTypeJSON, *, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar]:
        """Return the data type of a JSON form.

        Parameters
        ----------
        data
            In format 2 the object ``{"name": <dtype>, "object_codec_id": <id or None>}``, in format 3 the
            ``data_type`` of the array: a name, or an object with a name and, where needed, a configuration.
        zarr_format
            The format.

        Returns
        -------
        ZDType

        Raises
        ------
        ValueError
            If there is none.

        Examples
        --------
        >>> from zarr.dtype import data_type_registry
        >>> data_type_registry.match_json({"name": "int8"}, zarr_format=3)
        Int8()
        """
        found = self._try_known(data, zarr_format)
        if found is None:
            self._lazy_load()
            found = self._try_known(data, zarr_format)
        if found is None:
            name = data if isinstance(data, str) else data.get("name") if isinstance(data, Mapping) else None
            raise ValueError(f"No Zarr data type found that matches {data!r}{failure_of(str(name))}")
        return found

    def _try_known(self, data: DTypeJSON, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar] | None:
        number = self._number(_code_of(data, zarr_format))
        if number is not None:
            return number.from_json(data, zarr_format=zarr_format)
        # The same few names are looked up again and again; data types are frozen, so one object of each is enough.
        if type(data) is not str:
            return self._try_json(data, zarr_format)
        key = (data, zarr_format, *self.contents.values())
        known = self._known
        try:
            return known[key]
        except KeyError:  # new, or another thread has just forgotten all
            pass
        if len(known) > _MOST_KNOWN:
            known.clear()
        found = known[key] = self._try_json(data, zarr_format)
        return found

    def _try_json(self, data: DTypeJSON, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar] | None:
        for cls in [*self._first_choices(data, zarr_format), *self.contents.values(), *self.families]:
            try:
                return self._from_json(cls, data, zarr_format)
            except DataTypeValidationError as error:
                if error.__cause__ is not None:  # the right class, but one of its fields is wrong
                    raise
        return None

    def _first_choices(self, data: DTypeJSON, zarr_format: ZarrFormat) -> list[type[ZDType[Any, Any]]]:
        """Return the classes that declare a JSON form as their own; others may read it as an alternative."""
        if zarr_format == 3:
            spec = split_dtype_spec_v3(data)
            return [self.contents[spec[0]]] if spec is not None and spec[0] in self.contents else []
        name = data.get("name") if isinstance(data, Mapping) else None
        known = list(self.contents.values())  # another thread may register a class meanwhile
        return [cls for cls in known if name in getattr(cls, "_zarr_v2_names", ())]

    def _from_json(self, cls: type[ZDType[Any, Any]], data: DTypeJSON, zarr_format: ZarrFormat) -> ZDType[Any, Any]:
        # Data types with inner ones find these here; a class that defines its own parsing does not need this.
        within = getattr(cls, "_from_json_within", None)
        if within is None or cls.from_json.__func__ is not ZDType.from_json.__func__:  # type: ignore[attr-defined]
            return cls.from_json(data, zarr_format=zarr_format)
        return within(data, zarr_format, self.match_json)  # type: ignore[no-any-return]


data_type_registry = DataTypeRegistry(_built_in=True)


# Names for text of variable length; numpy reads these as text of length 0.
VLEN_UTF8_ALIAS: Final = ("str", str, "string")


def get_data_type_from_native_dtype(dtype: npt.DTypeLike) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type of a NumPy dtype, or of an object that NumPy can turn into one.

    Parameters
    ----------
    dtype : npt.DTypeLike
        A data type of NumPy, or its name.

    Returns
    -------
    ZDType

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> from zarr.dtype import get_data_type_from_native_dtype
    >>> get_data_type_from_native_dtype("<f4")
    Float32(endianness='little')
    """
    native = dtype if isinstance(dtype, np.dtype) else np.dtype(_with_tuples(dtype))
    return data_type_registry.match_dtype(native)


def get_data_type_from_json(dtype_spec: DTypeJSON, *, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type of a JSON form.

    Parameters
    ----------
    dtype_spec
        In format 2 the object ``{"name": <dtype>, "object_codec_id": <id or None>}``, in format 3 the ``data_type``.
    zarr_format
        The format.

    Returns
    -------
    ZDType

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> from zarr.dtype import get_data_type_from_json
    >>> get_data_type_from_json("int8", zarr_format=3)
    Int8()
    """
    return data_type_registry.match_json(dtype_spec, zarr_format=zarr_format)


def parse_dtype(dtype_spec: ZDTypeLike, *, zarr_format: ZarrFormat) -> ZDType[TBaseDType, TBaseScalar]:
    """Return the data type for a data type, a JSON form, a NumPy dtype, or an object that NumPy can turn into a dtype.

    Parameters
    ----------
    dtype_spec
        The value of the user.
    zarr_format
        The format of storage, which decides how names are read.

    Returns
    -------
    ZDType

    Raises
    ------
    TypeError, ValueError
        If it is no data type.

    Examples
    --------
    >>> from zarr.dtype import parse_dtype
    >>> parse_dtype("i4", zarr_format=3), parse_dtype(str, zarr_format=2)
    (Int32(endianness='little'), VariableLengthUTF8())
    """
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    if isinstance(dtype_spec, type) and issubclass(dtype_spec, ZDType):
        return cast("ZDType[TBaseDType, TBaseScalar]", dtype_spec())
    if isinstance(dtype_spec, Mapping):
        return get_data_type_from_json(cast("DTypeJSON", dtype_spec), zarr_format=zarr_format)
    if isinstance(dtype_spec, (str, type)) and dtype_spec in VLEN_UTF8_ALIAS:
        return text.VariableLengthUTF8()
    if dtype_spec is bytes and zarr_format == 3:
        return binary.VariableLengthBytes()
    if isinstance(dtype_spec, str) and zarr_format == 3 and not data_type_registry.is_plain_number(dtype_spec):
        try:
            return get_data_type_from_json(dtype_spec, zarr_format=3)
        except ValueError:
            pass  # not a name of format 3, so perhaps one of numpy's
    try:
        native = np.dtype(_with_tuples(dtype_spec))
    except TypeError as error:
        missing = small.missing_message(dtype_spec)
        raise (TypeError(missing) if missing else error) from error.__cause__
    if native.kind == "U" and native.itemsize == 0:
        return text.VariableLengthUTF8()
    parsed = data_type_registry.match_dtype(native)
    if zarr_format == 3:
        _refuse_subarrays(parsed)
    return parsed


parse_data_type = parse_dtype


def _with_tuples(dtype: Any) -> Any:
    """Return a list of fields in the form of numpy; JSON has lists where numpy has tuples."""
    if not isinstance(dtype, list):
        return dtype
    return [
        (field[0], _with_tuples(field[1]), *(tuple(part) if is_sequence(part) else part for part in field[2:]))
        if isinstance(field, list)
        else field
        for field in dtype
    ]


def _refuse_subarrays(dtype: ZDType[Any, Any]) -> None:
    if instance_of(dtype, "zarr.dtype.types.structured", "Structured"):
        for name, inner in cast("Any", dtype).fields:
            if instance_of(inner, "zarr.dtype.types.structured", "SubArray"):
                raise ValueError(
                    f"Cannot convert the structured data type {dtype.to_native_dtype()}: field {name!r} is a subarray "
                    f"with shape {inner.shape}, which zarr_format=3 cannot store. Use zarr_format=2, or one field per "
                    "element."
                )
            _refuse_subarrays(inner)
