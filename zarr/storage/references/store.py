"""A store whose values are bytes of other files, by a table of references (kerchunk)."""

from __future__ import annotations

import ast
import base64
import itertools
import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer
from zarr.errors import BrokenReferenceError, MetadataValidationError, ReadOnlyError
from zarr.storage.checks import parse_object, require
from zarr.storage.keys import check_key, check_local_path, check_prefix
from zarr.storage.payloads import PayloadStore
from zarr.storage.ranges import bounds_of, slice_of
from zarr.storage.references.parquet import MAX_GENERATED, MAX_OFFSET, ParquetTable
from zarr.storage.url import filesystem_of, naming_url

MAX_RENDERED: Final = 8192
"""The maximum length of a key or a URL."""


class Span(NamedTuple):
    """Bytes of a file: all of them, or ``length`` from ``offset``."""

    url: str
    offset: int = 0
    length: int | None = None


Reference: TypeAlias = bytes | Span


def parse_reference(key: str, value: Any) -> Reference:
    """Parse one entry of a table: a text, an object, or a list of a URL, an offset and a length.

    Raises
    ------
    MetadataValidationError
        If it is none of them, or has an offset and no length.

    Examples
    --------
    >>> parse_reference("a/0", "base64:AAE="), parse_reference("a/0", ["x.nc", 10, 4])
    (b'\\x00\\x01', Span(url='x.nc', offset=10, length=4))
    """
    if isinstance(value, str):
        if value.startswith("base64:"):
            try:
                return base64.b64decode(value[7:], validate=True)
            except ValueError as error:
                raise MetadataValidationError(f"the reference of {key!r} is not base64: {error}") from error
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise MetadataValidationError(f"the reference of {key!r} is no text: {error}") from error
    if isinstance(value, Mapping):
        return json.dumps(value).encode()
    if isinstance(value, list) and value and isinstance(value[0], str):
        if len(value) == 1:
            return Span(value[0])
        numbers = value[1:]
        if len(value) == 3 and all(type(number) is int and number >= 0 for number in numbers):
            return Span(value[0], *numbers)
    raise MetadataValidationError(
        f"the reference of {key!r} must be a text, an object, [url] or [url, offset, length] with numbers of 0 or "
        f"more, got {value!r}"
    )


def parse_table(document: Any, name: str) -> dict[str, Any]:
    """Return the references of a document, of version 0 (references only) or 1 (with templates and generators).

    Raises
    ------
    MetadataValidationError
        If it is malformed.

    Examples
    --------
    >>> parse_table({"version": 1, "templates": {"u": "s3://b"}, "refs": {"a/0": ["{{u}}/x", 0, 9]}}, "refs.json")
    {'a/0': ['s3://b/x', 0, 9]}
    """
    require(isinstance(document, Mapping), f"{name}: references are a JSON object, got {type(document).__name__}")
    if "refs" not in document:
        return dict(document)
    version = document.get("version", 1)
    require(version == 1, f"{name}: references of version {version!r}; 0 and 1 are known")
    listed, templates, generators = (document.get(member) or [] for member in ("refs", "templates", "gen"))
    for member, found in ("refs", listed), ("templates", templates):
        kind = type(found).__name__
        require(not found or isinstance(found, Mapping), f"{name}: {member} must be an object, got a {kind}")
    good = not generators or isinstance(generators, list)
    require(good, f"{name}: gen must be a list of generators, got a {type(generators).__name__}")
    refs, templates = dict(listed), dict(templates)
    for key, value in refs.items():
        if isinstance(value, list) and value and isinstance(value[0], str) and "{{" in value[0]:
            refs[key] = [render(value[0], templates), *value[1:]]
    room = MAX_GENERATED
    for generator in generators:
        made = dict(_generated(generator, templates, name, room))
        room -= len(made)
        refs.update(made)
    return refs


def _generated(generator: Any, templates: Mapping[str, str], name: str, room: int) -> Iterator[tuple[str, Any]]:
    try:
        dimensions, key, url = generator["dimensions"], generator["key"], generator["url"]
    except (KeyError, TypeError):
        raise MetadataValidationError(f"{name}: a generator needs dimensions, key and url, got {generator!r}") from None
    good = isinstance(dimensions, Mapping) and isinstance(key, str) and isinstance(url, str)
    require(good, f"{name}: a generator has an object of dimensions, and texts, got {generator!r}")
    ranges = [_range_of(values, name) for values in dimensions.values()]
    count = math.prod(len(values) for values in ranges)
    require(count <= room, f"{name}: the generators make more than {MAX_GENERATED} references")
    if not count:  # one of the others may be longer than any memory
        return
    for combination in itertools.product(*ranges):
        names = {**templates, **dict(zip(dimensions, combination, strict=True))}
        value: list[Any] = [render(url, names)]
        if "offset" in generator:
            value += [_number_of(generator, part, names, name) for part in ("offset", "length")]
        yield render(key, names), value


def _number_of(generator: Mapping[str, Any], part: str, names: Mapping[str, Any], name: str) -> int:
    text = render(str(generator.get(part)), names)
    try:
        return int(text)
    except ValueError:
        raise MetadataValidationError(f"{name}: the {part} of a generator is {text!r}, which is no number") from None


def _range_of(values: Any, name: str) -> range | list[Any]:
    if isinstance(values, list):
        return values
    if isinstance(values, Mapping):
        start, stop, step = values.get("start", 0), values.get("stop"), values.get("step", 1)
        if type(start) is type(stop) is type(step) is int and step:
            if max(abs(start), abs(stop), abs(step)) < MAX_OFFSET:  # the length of a range has 63 bits
                return range(start, stop, step)
    raise MetadataValidationError(
        f"{name}: a dimension of a generator is a list, or has numbers start, stop and step; got {values!r}"
    )


# ------------------------------------------------------------------------------------------ templates

_OPERATORS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


def render(text: str, names: Mapping[str, Any]) -> str:
    """Replace ``{{…}}`` in a template: names, whole-number arithmetic, and templates with arguments.

    Raises
    ------
    MetadataValidationError
        If the braces contain anything else, or an unknown name.

    Examples
    --------
    >>> render("{{u}}/{{(i + 1) * 10}}", {"u": "s3://b", "i": 2})
    's3://b/30'
    >>> render("{{f(c='text')}}", {"f": "server.org/{{c}}"})
    'server.org/text'
    """
    parts, end, room = [], 0, MAX_RENDERED
    for match in re.finditer(r"\{\{(.*?)\}\}", text):
        parts += [text[end : match.start()], str(_evaluate(match[1].strip(), names))]
        end = match.end()
        room -= len(parts[-2]) + len(parts[-1])
        require(room >= 0, f"the template {text[:100]!r} makes more than {MAX_RENDERED} characters")
    return "".join([*parts, text[end:]])


def _evaluate(expression: str, names: Mapping[str, Any]) -> Any:
    try:
        return _value(ast.parse(expression, mode="eval").body, names)
    except (SyntaxError, KeyError, TypeError, ValueError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise MetadataValidationError(
            f"the template {{{{{expression}}}}} cannot be filled in ({type(error).__name__}: {error}); names, whole "
            "numbers, + - * // % and templates with named arguments are known"
        ) from error


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant) and type(node.value) in (int, str):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, names), _value(node.right, names)
        if type(left) is int and type(right) is int:
            result = _OPERATORS[type(node.op)](left, right)
            if abs(result) <= MAX_OFFSET:
                return result
            raise ValueError("the number is too large for any file")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        given = {keyword.arg: _value(keyword.value, names) for keyword in node.keywords if keyword.arg}
        return render(str(names[node.func.id]), given)
    raise TypeError(f"{ast.unparse(node)!r} is not among them")


REMOTE: Final = frozenset(("http", "https", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "memory", "oci"))
"""Schemes of URLs that any table may name: they cannot lead to files of this computer."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://)?")


class ReferenceStore(PayloadStore):
    """Keys that stand for bytes of other files, for reading.

    Parameters
    ----------
    references : mapping of str
        For each key a text (``base64:…`` or the value itself), an object, ``[url]`` or ``[url, offset, length]``; or a
        whole document of version 1, with templates and generators.
    folder : str, optional
        The folder or URL at which relative paths begin; without it they are refused.
    allow_outside : bool
        If True, references may name absolute paths of this computer, paths that lead out of the folder, and URLs of any
        scheme. A hostile table could then read any file. Default: False.
    storage_options : dict, optional
        Options of fsspec for references that are URLs.
    name : str
        The name of the store in messages.

    Raises
    ------
    MetadataValidationError
        If the document is malformed.

    Notes
    -----
    https://fsspec.github.io/kerchunk/spec.html

    Examples
    --------
    >>> from zarr.storage import ReferenceStore
    >>> store = ReferenceStore({"a/.zarray": "{}", "a/0": "base64:AAE="})
    >>> store.get_sync("a/0").to_bytes()
    b'\\x00\\x01'
    """

    supports_writes: bool = False
    supports_deletes: bool = False

    def __init__(
        self,
        references: Mapping[str, Any],
        *,
        folder: str | None = None,
        allow_outside: bool = False,
        storage_options: dict[str, Any] | None = None,
        name: str = "references",
    ) -> None:
        super().__init__(read_only=True)
        self._table = references if isinstance(references, ParquetTable) else parse_table(references, name)
        self._folder = _absolute_folder(folder, allow_outside)
        self._allow_outside = allow_outside
        self._options = storage_options or {}
        self._name = name

    @classmethod
    def is_at(cls, place: str) -> bool:
        """Return True if a path or URL with the suffix of a table is one: a JSON file, or a folder of parquet files.

        Parameters
        ----------
        place : str
            A path or URL.
        """
        if place.rstrip("/").endswith((".parq", ".parquet")):
            return os.path.isfile(os.path.join(place, ".zmetadata"))
        return _scheme_of(place) not in ("", "file") or os.path.isfile(place)

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, allow_outside: bool = False, storage_options: dict[str, Any] | None = None
    ) -> ReferenceStore:
        """Read a table: a JSON file, or a folder of parquet files; by its path or its URL.

        Parameters
        ----------
        path : str or PathLike
            The file of references.
        allow_outside, storage_options
            As for the class; ``allow_outside`` may also be in ``storage_options``.

        Raises
        ------
        FileNotFoundError
            If there is no table.
        MetadataValidationError
            If the table is malformed.
        """
        text = os.fspath(path)
        check_local_path(text)
        scheme = _scheme_of(text)
        local = scheme in ("", "file")
        text = text.removeprefix("file:").removeprefix("//") if scheme == "file" else text
        is_json = text.lower().endswith(".json")
        folder = text.rpartition("/")[0] or ("/" if text.startswith("/") else ".") if is_json else text.rstrip("/")
        folder = os.path.abspath(folder) if local else folder
        options = dict(storage_options or {})
        allow_outside = bool(options.pop("allow_outside", allow_outside))
        table: Mapping[str, Any]

        def read(name: str) -> bytes:
            return _read_file(f"{folder}/{name}", None if local else options)

        if is_json:
            table = parse_object(read(text.rpartition("/")[2]), text)
        else:
            table = ParquetTable(read, text)
        # A table of parquet names files relative to the folder that contains it.
        beside = folder if is_json else folder.rpartition("/")[0]
        return cls(table, folder=beside, allow_outside=allow_outside, storage_options=options, name=text)

    def with_read_only(self, read_only: bool = False) -> ReferenceStore:
        """Return the same store; it is read-only.

        Raises
        ------
        ReadOnlyError
            If ``read_only`` is False.
        """
        if not read_only:
            raise ReadOnlyError(f"{self} is read only")
        return self

    def __str__(self) -> str:
        return f"reference://{self._name}"

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._table,)

    # Reading

    def _reference(self, key: str) -> Reference | None:
        check_key(key)
        try:
            value = self._table[key]
        except KeyError:
            return None
        return parse_reference(key, value)

    def _payload(self, key: str, byte_range: ByteRequest | None = None) -> bytes | None:
        found = self._reference(key)
        if isinstance(found, Span):
            return self._read(key, found, byte_range)
        return found if found is None or byte_range is None else found[slice_of(byte_range, len(found))]

    def _read_many(self, keys: list[str]) -> list[Any]:
        return [self._payload(key) for key in keys]

    def _size(self, key: str) -> int | None:
        found = self._reference(key)
        return self._length(key, found) if isinstance(found, Span) else None if found is None else len(found)

    def exists_sync(self, key: str) -> bool:
        """Return True if the key is in the table."""
        check_key(key)
        return key in self._table

    def _names(self, start: str) -> list[str]:
        if isinstance(self._table, ParquetTable):
            return list(self._table.under(start))
        return [key for key in self._table if key.startswith(start)]

    def list_dir_sync(self, prefix: str) -> Iterable[str]:
        """Return the names directly under the prefix."""
        if isinstance(self._table, ParquetTable):
            return self._table.names_under(check_prefix(prefix))
        return super().list_dir_sync(prefix)

    bulk_access = Store.bulk_access  # there is none: files are read one by one, by many threads

    def _read(self, key: str, span: Span, byte_range: ByteRequest | None) -> bytes:
        start, stop = span.offset, None if span.length is None else span.offset + span.length
        if byte_range is not None:
            first, last = bounds_of(byte_range, self._length(key, span))
            start, stop = span.offset + first, span.offset + last
        if start == stop:
            return b""
        with self._opening(key, span) as (place, options):
            data = _read_file(place, options, start, stop)
        if stop is not None and len(data) != stop - start:
            raise BrokenReferenceError(
                f"{self}: {key!r} is bytes {start} to {stop} of {place!r}, which has only {len(data)} of them"
            )
        return data

    def _length(self, key: str, span: Span) -> int:
        if span.length is not None:
            return span.length
        with self._opening(key, span) as (place, options):
            return _size_of(place, options)

    @contextmanager
    def _opening(self, key: str, span: Span) -> Iterator[tuple[str, dict[str, Any] | None]]:
        """Yield the place of a file and the options for fsspec; an error while it is read names the key."""
        place, options = self._place(key, span.url)
        try:
            yield place, options
        except OSError as error:
            raise BrokenReferenceError(f"{self}: {key!r} is in {place!r}, which cannot be read: {error}") from error

    def _place(self, key: str, url: str) -> tuple[str, dict[str, Any] | None]:
        """Return the path or URL of a file, and the options for fsspec; None for a path of this computer."""
        scheme = _scheme_of(url) if "::" not in url else "::"
        if scheme not in ("", "file"):
            if scheme not in REMOTE and not self._allow_outside:
                raise self._outside(key, url, f"the scheme {scheme!r}")
            return url, self._options
        path = url.removeprefix("file:").removeprefix("//") if scheme else url
        check_local_path(path)
        folder = self._folder
        if folder is not None and _scheme_of(folder):
            if os.path.isabs(path) or scheme or ".." in path.replace("\\", "/").split("/"):
                if self._allow_outside and os.path.isabs(path):
                    return path, None
                raise self._outside(key, url, "a path out of the folder of the table")
            return f"{folder}/{path}", self._options
        if self._allow_outside:
            return os.path.join(folder or "", path), None
        if folder is None:
            raise self._outside(key, url, "a path of this computer that begins in no folder of the table's")
        whole, top = os.path.realpath(os.path.join(folder, path)), os.path.realpath(folder)
        if not Path(whole).is_relative_to(top):
            raise self._outside(key, url, "a path out of the folder of the table")
        return whole, None

    def _outside(self, key: str, url: str, what: str) -> BrokenReferenceError:
        return BrokenReferenceError(
            f"{self}: the reference of {key!r} to {url!r} is refused: {what}. If the table is to be trusted, open it "
            "with allow_outside=True"
        )

    def set_sync(self, key: str, value: Buffer) -> None:
        """Refuse: the store is read-only."""
        self._check_writable()

    def _write_many(self, items: list[tuple[str, Any]]) -> None:
        self._check_writable()


def _scheme_of(text: str) -> str:
    match = _SCHEME.match(text)
    return match[1].lower() if match is not None and (match[0].endswith("//") or match[1].lower() == "file") else ""


def _absolute_folder(folder: str | None, allow_outside: bool) -> str | None:
    """Return the folder at which relative paths begin, by a name that is valid in any working directory."""
    if folder is None:
        return os.getcwd() if allow_outside else None
    return folder if _scheme_of(folder) else os.path.join(os.getcwd(), folder)


def _read_file(path: str, options: dict[str, Any] | None, start: int = 0, stop: int | None = None) -> bytes:
    """Read a part of a file of this computer, or, with options for fsspec, of the file of a URL."""
    if options is not None:
        with naming_url(path):
            fs, path = filesystem_of(path, options)
            return fs.cat_file(path, start=start, end=stop)  # type: ignore[no-any-return]
    with open(path, "rb") as file:
        file.seek(start)
        return file.read() if stop is None else file.read(stop - start)


def _size_of(path: str, options: dict[str, Any] | None) -> int:
    if options is None:
        return os.path.getsize(path)
    with naming_url(path):
        fs, path = filesystem_of(path, options)
        return int(fs.size(path))
