"""Tables of references after kerchunk: which key is which bytes of which file, or is written in the table itself."""

from __future__ import annotations

import ast
import base64
import itertools
import json
import math
import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from zarr.errors import MetadataValidationError

MAX_GENERATED: Final = 1_000_000
"""How many references a table may stand for that does not name each of them."""

MAX_RENDERED: Final = 8192
"""How long a key or a URL may be."""

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
    """Return the references of a document, of version 0 (references alone) or 1 (with templates and generators).

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
    room = MAX_GENERATED
    for generator in generators:
        made = dict(_generated(generator, templates, name, room))
        room -= len(made)
        refs.update(made)
    return refs


def _generated(
    generator: Any, templates: Mapping[str, str], name: str, room: int = MAX_GENERATED
) -> Iterator[tuple[str, Any]]:
    try:
        dimensions, key, url = generator["dimensions"], generator["key"], generator["url"]
    except (KeyError, TypeError):
        raise MetadataValidationError(f"{name}: a generator needs dimensions, key and url, got {generator!r}") from None
    if not isinstance(dimensions, Mapping) or not isinstance(key, str) or not isinstance(url, str):
        raise MetadataValidationError(f"{name}: a generator has an object of dimensions, and texts, got {generator!r}")
    ranges = [_range_of(values, name) for values in dimensions.values()]
    count = math.prod(len(values) for values in ranges)
    if count > room:
        raise MetadataValidationError(f"{name}: the generators make more than {MAX_GENERATED} references")
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
    parts, end, room = [], 0, MAX_RENDERED
    for match in re.finditer(r"\{\{(.*?)\}\}", text):
        parts += [text[end : match.start()], str(_evaluate(match[1].strip(), names))]
        end = match.end()
        room -= len(parts[-2]) + len(parts[-1])
        if room < 0:
            raise MetadataValidationError(f"the template {text[:100]!r} makes more than {MAX_RENDERED} characters")
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


def is_parquet(path: str) -> bool:
    """Return whether a folder is named as those of references in parquet are, and has their documents."""
    return path.rstrip("/").endswith((".parq", ".parquet")) and os.path.isfile(os.path.join(path, ".zmetadata"))
