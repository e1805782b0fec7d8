"""Tables of references after kerchunk: which key is which bytes of which file, or is written in the table itself."""

from __future__ import annotations

import ast
import base64
import binascii
import itertools
import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from zarr.errors import MetadataValidationError

MAX_GENERATED: Final = 10_000_000

MAX_OFFSET: Final = 2**62
"""No file is longer."""


class Span(NamedTuple):
    """Bytes of a file: all of them, or ``length`` from ``offset``."""

    url: str
    offset: int = 0
    length: int | None = None


Reference: TypeAlias = bytes | Span


def parse_reference(key: str, value: Any) -> Reference:
    """One entry of a table: a text, an object, or a list of a URL, an offset and a length.

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
            except binascii.Error as error:
                raise MetadataValidationError(f"the reference of {key!r} is not base64: {error}") from error
        return value.encode()
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
    """The references of a document, of version 0 (references alone) or 1 (with templates and generators).

    Raises
    ------
    MetadataValidationError
        If it is malformed.

    Examples
    --------
    >>> parse_table({"version": 1, "templates": {"u": "s3://b"}, "refs": {"a/0": ["{{u}}/x", 0, 9]}}, "refs.json")
    {'a/0': ['s3://b/x', 0, 9]}
    """
    if not isinstance(document, Mapping):
        raise MetadataValidationError(f"{name}: references are a JSON object, got {type(document).__name__}")
    if "refs" not in document:
        return dict(document)
    if document.get("version", 1) != 1:
        raise MetadataValidationError(f"{name}: references of version {document['version']!r}; 0 and 1 are known")
    for member in ("refs", "templates"):
        if not isinstance(document.get(member) or {}, Mapping):
            raise MetadataValidationError(f"{name}: {member} must be an object, got {document[member]!r}")
    templates = dict(document.get("templates") or {})
    refs = {}
    for key, value in (document["refs"] or {}).items():
        if isinstance(value, list) and value and isinstance(value[0], str) and "{{" in value[0]:
            value = [render(value[0], templates), *value[1:]]
        refs[key] = value
    generators = document.get("gen") or []
    if not isinstance(generators, list):
        raise MetadataValidationError(f"{name}: gen must be a list of generators, got {generators!r}")
    for generator in generators:
        refs.update(_generated(generator, templates, name))
    return refs


def _generated(generator: Any, templates: Mapping[str, str], name: str) -> Iterator[tuple[str, Any]]:
    try:
        dimensions, key, url = generator["dimensions"], generator["key"], generator["url"]
    except (KeyError, TypeError):
        raise MetadataValidationError(f"{name}: a generator needs dimensions, key and url, got {generator!r}") from None
    if not isinstance(dimensions, Mapping) or not isinstance(key, str) or not isinstance(url, str):
        raise MetadataValidationError(f"{name}: a generator has an object of dimensions, and texts, got {generator!r}")
    ranges = [_range_of(values, name) for values in dimensions.values()]
    if math.prod(len(values) for values in ranges) > MAX_GENERATED:
        raise MetadataValidationError(f"{name}: a generator makes more than {MAX_GENERATED} references")
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
            if max(abs(start), abs(stop), abs(step)) <= MAX_OFFSET:
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
    """Put values in the place of ``{{…}}``: names, whole-number arithmetic, and templates with arguments.

    Raises
    ------
    MetadataValidationError
        If there is anything else in the braces, or a name is not known.

    Examples
    --------
    >>> render("{{u}}/{{(i + 1) * 10}}", {"u": "s3://b", "i": 2})
    's3://b/30'
    >>> render("{{f(c='text')}}", {"f": "server.org/{{c}}"})
    'server.org/text'
    """
    return re.sub(r"\{\{(.*?)\}\}", lambda match: str(_evaluate(match[1].strip(), names)), text)


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


# ------------------------------------------------------------------------------------------ parquet


class ParquetTable(Mapping[str, Any]):
    """References in a folder of parquet files: ``.zmetadata``, and ``<array>/refs.<n>.parq`` with a row a chunk.

    Parameters
    ----------
    read : callable
        Gives the bytes of a file by its name in the folder; FileNotFoundError where there is none.
    name : str
        Of the folder, for messages.

    Raises
    ------
    MetadataValidationError
        If ``.zmetadata`` is malformed.
    """

    def __init__(self, read: Callable[[str], bytes], name: str) -> None:
        self._read, self._name = read, name
        self._documents, self._record_size = _parsed_documents(read(".zmetadata"), f"{name}/.zmetadata")
        self._records: dict[tuple[str, int], Any] = {}
        self._grids = {
            key.removesuffix("/.zarray"): _grid_of(value, f"{name}/{key}")
            for key, value in self._documents.items()
            if key.endswith("/.zarray")
        }

    def __getitem__(self, key: str) -> Any:
        if key in self._documents:
            return self._documents[key]
        array, _, name = key.rpartition("/")
        row = _row_of(name, self._grids[array])
        if row is None:
            raise KeyError(key)
        record, row = divmod(row, self._record_size)
        found = self._row(array, record, row)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self._documents
        for array, grid in self._grids.items():
            for coords in itertools.product(*map(range, grid)):
                key = f"{array}/{'.'.join(map(str, coords)) or '0'}"
                if key in self:
                    yield key

    def __contains__(self, key: object) -> bool:
        try:
            self[str(key)]
        except KeyError:
            return False
        return True

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _row(self, array: str, record: int, row: int) -> Any:
        columns = self._records.get((array, record))
        if columns is None:
            if len(self._records) > 32:
                self._records.clear()
            columns = self._records[array, record] = self._columns(f"{array}/refs.{record}.parq")
        if columns is None or row >= len(columns["path"]):
            return None
        raw = columns["raw"][row] if "raw" in columns else None
        if raw is not None:
            return "base64:" + base64.b64encode(raw).decode()
        path, offset, size = (columns[name][row] for name in ("path", "offset", "size"))
        if path is None:
            return None
        return [path, int(offset), int(size)] if size else [path]

    def _columns(self, name: str) -> dict[str, list[Any]] | None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise ModuleNotFoundError(
                f"pyarrow is needed to read the references in {self._name}, and is not installed: "
                "pip install 'zarr[arrow]'",
                name="pyarrow",
            ) from error
        try:
            data = self._read(name)
        except FileNotFoundError:
            return None
        columns: dict[str, list[Any]] = pq.read_table(pa.BufferReader(data)).to_pydict()
        missing = {"path", "offset", "size"} - columns.keys()
        if missing:
            raise MetadataValidationError(f"{self._name}/{name} has no columns {sorted(missing)}")
        return columns


def _parsed_documents(raw: bytes, name: str) -> tuple[dict[str, Any], int]:
    """The documents of a hierarchy, and how many references there are in a file."""
    try:
        document = json.loads(raw)
        documents, size = dict(document["metadata"]), int(document["record_size"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise MetadataValidationError(f"{name} is not that of references: metadata, record_size ({error})") from error
    if size < 1:
        raise MetadataValidationError(f"{name}: record_size must be at least 1, got {size}")
    return documents, size


def _grid_of(document: Any, name: str) -> tuple[int, ...]:
    try:
        parsed = json.loads(document) if isinstance(document, str) else document
        pairs = list(zip(parsed["shape"], parsed["chunks"], strict=True))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise MetadataValidationError(f"{name} is no document of an array: shape, chunks ({error})") from error
    if not all(type(n) is int and n >= least for pair in pairs for n, least in zip(pair, (0, 1), strict=True)):
        raise MetadataValidationError(f"{name}: shape and chunks must be lengths, got {pairs}")
    return tuple(-(-length // chunk) for length, chunk in pairs)


def _row_of(name: str, grid: Iterable[int]) -> int | None:
    """The number of a chunk in the order of its array's chunks; None where the name is none of a chunk."""
    grid = tuple(grid)
    parts = name.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    coords = [int(part) for part in parts] if grid else []
    if len(coords) != len(grid) or any(coord >= length for coord, length in zip(coords, grid, strict=True)):
        return None
    row = 0
    for coord, length in zip(coords, grid, strict=True):
        row = row * length + coord
    return row


def is_parquet(path: str) -> bool:
    """Whether a folder is named as those of references in parquet are, and has their documents."""
    return path.rstrip("/").endswith((".parq", ".parquet")) and os.path.isfile(os.path.join(path, ".zmetadata"))
