"""Hierarchies in the layouts of the drafts of format 3 from 2019 and 2020, shown as format 3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from zarr.abc.store import ByteRequest, Store
from zarr.buffer.core import Buffer, BufferPrototype
from zarr.dtype import parse_dtype
from zarr.errors import ReadOnlyError
from zarr.steps.requests import Delete, DeletePrefix, Get, List, ListDir, Put, Steps
from zarr.storage.checks import parse_object, require
from zarr.storage.keys import ancestors, check_prefix, child_names, dir_prefix, join, nearest_above, outermost
from zarr.storage.layouts.base import LayoutStore, read_steps, split_document, to_bytes

CORE_URI: Final = "http://purl.org/zarr/spec/protocol/core/3.0"
CODEC_URI: Final = "http://purl.org/zarr/spec/codec/"
DATETIME_URI: Final = "http://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0"

_NATIVE_CODECS: Final = ("blosc", "gzip", "zstd", "crc32c")
_SHUFFLES: Final = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}


@dataclass(frozen=True)
class Draft3Layout:
    """The places of the keys of a hierarchy.

    Parameters
    ----------
    suffix : str
        The text after ``.array`` and ``.group``: empty in 2019, usually ``.json`` in 2020.
    rooted : bool
        If True, chunks lie below ``data/root/`` and their names begin with ``c``, as in 2020.
    """

    suffix: str = ""
    rooted: bool = False


def is_bootstrap(document: object) -> bool:
    """Return True if a document ``zarr.json`` is the bootstrap of a draft: its format is a URI.

    Examples
    --------
    >>> is_bootstrap({"zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0"}), is_bootstrap({"zarr_format": 3})
    (True, False)
    """
    return isinstance(document, Mapping) and isinstance(document.get("zarr_format"), str)


def parse_bootstrap(document: Mapping[str, Any], place: object) -> Draft3Layout:
    """Read a bootstrap document.

    Raises
    ------
    MetadataValidationError
        If it is of another protocol, its metadata is not JSON, or it has an extension that must be understood.
    """
    name, core, protocol = f"{place}/zarr.json", "/zarr/spec/protocol/core/3", document["zarr_format"]
    require(core in protocol, f"{name}: zarr_format is {protocol!r}, which is not known; it is 3, or {CORE_URI!r}")
    encoding = document.get("metadata_encoding", "application/json")
    good = encoding == "application/json" or core in str(encoding)
    require(good, f"{name}: metadata in the encoding {encoding!r}; only JSON ('application/json') can be read")
    check_extensions(document, name)
    suffix = document.get("metadata_key_suffix", "")
    good = isinstance(suffix, str) and "/" not in suffix
    require(good, f"{name}: metadata_key_suffix must be the end of a name, got {suffix!r}")
    return Draft3Layout(suffix, rooted="metadata_key_suffix" in document)


def check_extensions(document: Mapping[str, Any], name: str) -> None:
    """Refuse a document with an extension that must be understood; a draft's extension must be, unless it is marked.

    Raises
    ------
    MetadataValidationError
    """
    extensions = document.get("extensions", [])
    require(isinstance(extensions, list), f"{name}: extensions must be a list, got {extensions!r}")
    for extension in extensions:
        about = extension if isinstance(extension, Mapping) else {"extension": extension}
        optional = about.get("must_understand", True) is False
        require(optional, f"{name}: the extension {about.get('extension')!r} must be understood, and is not known")


# ------------------------------------------------------------------------------------------- reading


def group_document(draft: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Return the document of a group in format 3; without a draft's document, that of an implicit group."""
    draft = draft or {}
    check_extensions(draft, name)
    return {"zarr_format": 3, "node_type": "group", "attributes": draft.get("attributes", {})}


def array_document(draft: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the document of an array in format 3.

    Raises
    ------
    MetadataValidationError
        If a member is missing or malformed, or the array has a feature that format 3 does not have.
    """
    missing = [key for key in ("shape", "data_type", "chunk_grid", "chunk_memory_layout") if key not in draft]
    require(not missing, f"{name}: the members {missing} are missing")
    check_extensions(draft, name)
    shape, grid = draft["shape"], draft["chunk_grid"]
    require(isinstance(shape, list), f"{name}: shape must be a list of lengths, got {shape!r}")
    require(not draft.get("storage_transformers"), f"{name}: storage transformers of a draft cannot be read")
    good = isinstance(grid, Mapping) and grid.get("type") == "regular" and isinstance(grid.get("chunk_shape"), list)
    require(good, f"{name}: the chunk grid {grid!r} is not a regular one with a chunk_shape")
    data_type, endian, itemsize = _data_type(draft["data_type"], name)
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid["chunk_shape"]}},
        # The store translates keys of chunks; the letter before them keeps them apart from names of nodes.
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": grid.get("separator", ".")}},
        "fill_value": _fill_value(draft.get("fill_value"), data_type),
        "codecs": [
            *_layout_codecs(draft["chunk_memory_layout"], len(shape), name),
            {"name": "bytes", "configuration": {"endian": endian} if endian else {}},
            *_compressor(draft.get("compressor"), itemsize, name),
        ],
        "attributes": draft.get("attributes", {}),
    }


def _layout_codecs(layout: object, ndim: int, name: str) -> list[dict[str, Any]]:
    require(layout in ("C", "F"), f"{name}: chunk_memory_layout must be 'C' or 'F', got {layout!r}")
    if layout == "C" or ndim < 2:
        return []
    return [{"name": "transpose", "configuration": {"order": list(range(ndim))[::-1]}}]


def _data_type(given: Any, name: str) -> tuple[Any, str | None, int]:
    """Return the name of a data type in format 3, its byte order and the size of an element."""
    about = given if isinstance(given, Mapping) else {"type": given}
    found = _named_type(about.get("type")) or _named_type(about.get("fallback"))
    of = f" of the extension {about.get('extension')!r}" if about is given else ""
    end = ", and it names no known fallback" if about is given else ""
    require(found, f"{name}: the data type {about.get('type')!r}{of} is not known{end}")
    return cast("tuple[Any, str | None, int]", found)


def _named_type(text: Any) -> tuple[Any, str | None, int] | None:
    if not isinstance(text, str):
        return None
    if text.startswith("r") and text[1:].isdigit() and int(text[1:]) % 8 == 0:
        return text, None, int(text[1:]) // 8
    try:
        dtype = np.dtype(text)
        if dtype.kind not in "biufcmMUS" or not dtype.itemsize:
            return None
        named = cast("Any", parse_dtype(dtype, zarr_format=3))._v3_json()  # a read does not warn
    except (TypeError, ValueError):
        return None
    endian = None if dtype.kind == "S" else {"<": "little", ">": "big"}.get(text[0])
    if endian is None and dtype.itemsize > 1 and dtype.kind != "S":
        return None
    return named, endian, dtype.itemsize


def _fill_value(value: Any, data_type: Any) -> Any:
    """Return a fill value of format 3: null, an undefined value, becomes the default of format 3."""
    if value is not None:
        return value
    dtype = parse_dtype(data_type, zarr_format=3)
    return dtype.to_json_scalar(dtype.default_scalar(), zarr_format=3)


def _compressor(given: Any, itemsize: int, name: str) -> list[dict[str, Any]]:
    if given is None:
        return []
    uri: Any = given.get("codec") if isinstance(given, Mapping) else None
    require(isinstance(uri, str), f"{name}: the compressor {given!r} names no codec")
    codec = uri.partition("/codec/")[2].partition("/")[0] or uri.rpartition("/")[2]
    options = {} if given.get("configuration") is None else given["configuration"]
    require(isinstance(options, Mapping), f"{name}: the configuration of {uri!r} must be an object, got {options!r}")
    configuration = dict(options)
    if codec == "blosc":
        shuffle = configuration.get("shuffle", 1)
        require(type(shuffle) is int, f"{name}: shuffle of {uri!r} must be -1, 0, 1 or 2, got {shuffle!r}")
        shuffle = (2 if itemsize == 1 else 1) if shuffle == -1 else shuffle
        configuration = {**configuration, "shuffle": _SHUFFLES.get(shuffle, shuffle), "typesize": itemsize}
        configuration.setdefault("blocksize", 0)
    return [{"name": codec if codec in _NATIVE_CODECS else f"numcodecs.{codec}", "configuration": configuration}]


# ------------------------------------------------------------------------------------------- writing


def draft_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of the draft for a document of format 3.

    Raises
    ------
    ValueError
        If the node has a feature that the draft does not have.
    """
    if document.get("node_type") == "group":
        return {"extensions": [], "attributes": document.get("attributes", {})}
    if any(document.get("dimension_names") or ()) or document.get("storage_transformers"):
        raise ValueError("the draft of 2019 has no dimension names and no storage transformers")
    if document["chunk_key_encoding"]["name"] != "default" or document["chunk_grid"]["name"] != "regular":
        raise ValueError("arrays of the draft of 2019 have a regular grid, and chunk keys in the default encoding")
    codecs = [dict(codec) for codec in document["codecs"]]
    layout = "C"
    ndim = len(document["shape"])
    if codecs[0]["name"] == "transpose":
        if list(codecs.pop(0)["configuration"]["order"]) != list(range(ndim))[::-1]:
            raise ValueError("the draft of 2019 has the memory layouts C and F only")
        layout = "F"
    if codecs[0]["name"] != "bytes" or len(codecs) > 2:
        raise ValueError(f"the draft of 2019 has one compressor and no other codecs; got {document['codecs']}")
    configuration = document["chunk_key_encoding"].get("configuration") or {}
    draft = {
        "shape": document["shape"],
        "data_type": _draft_type(document["data_type"], (codecs[0].get("configuration") or {}).get("endian")),
        "chunk_grid": {
            "type": "regular",
            "chunk_shape": document["chunk_grid"]["configuration"]["chunk_shape"],
            "separator": configuration.get("separator", "/"),
        },
        "chunk_memory_layout": layout,
        "fill_value": document["fill_value"],
        "extensions": [],
        "attributes": document.get("attributes", {}),
    }
    if len(codecs) == 2:
        draft["compressor"] = _draft_compressor(codecs[1])
    return draft


def _draft_compressor(codec: Mapping[str, Any]) -> dict[str, Any]:
    configuration = dict(codec.get("configuration") or {})
    if codec["name"] == "blosc":
        shuffles = {word: number for number, word in _SHUFFLES.items()}
        configuration["shuffle"] = shuffles.get(configuration.get("shuffle", ""), 1)
        configuration.pop("typesize", None)
    return {"codec": f"{CODEC_URI}{codec['name'].removeprefix('numcodecs.')}", "configuration": configuration}


def _draft_type(data_type: Any, endian: str | None) -> Any:
    mark = {"little": "<", "big": ">", None: ""}[endian]
    name = data_type["name"] if isinstance(data_type, Mapping) else data_type
    if name == "bool":
        return "bool"
    if re.fullmatch(r"u?int(8|16|32|64)|float(16|32|64)", name):
        return np.dtype(name).newbyteorder(mark or "<").str.removeprefix("|")  # type: ignore[arg-type]
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        of = data_type["configuration"]
        number = "" if of["scale_factor"] == 1 else str(of["scale_factor"])
        kind = "M8" if name == "numpy.datetime64" else "m8"
        mark = mark or "<"
        return {"extension": DATETIME_URI, "type": f"{mark}{kind}[{number}{of['unit']}]", "fallback": f"{mark}i8"}
    raise ValueError(f"the draft of 2019 has no data type for {data_type!r}")


def bootstrap_document(suffix: str = "") -> dict[str, Any]:
    """Return the bootstrap document of a hierarchy of 2019, or of 2020 where metadata keys have a suffix."""
    document: dict[str, Any] = {"zarr_format": CORE_URI, "metadata_encoding": "application/json"}
    if suffix:
        document["metadata_key_suffix"] = suffix
    return {**document, "extensions": []}


_CHUNK = re.compile(r"(.*/)?c((?:[./]\d+)*)", re.DOTALL)
_NAME = re.compile(r"[-_.A-Za-z0-9]+")


class Draft3Store(LayoutStore):
    """A hierarchy of a draft of format 3: ``zarr.json`` with a URI, ``meta/root/<path>.array``, ``data/<path>/0.0``.

    Parameters
    ----------
    store : Store
        The store that holds the hierarchy.
    path : str
        The place of the hierarchy in the store.
    layout : Draft3Layout
        The draft, from the bootstrap document.
    read_only : bool
        If False, values are written as format 3 and stored in the layout of the draft. Only :func:`zarr.draft3.create`
        makes such stores.

    Notes
    -----
    The names below a group are found with one listing, ``list_dir("meta/root/<path>/")``, and all nodes with one,
    ``list_prefix("meta/")``.
    """

    implicit_groups: bool = True

    def __init__(
        self, store: Store, path: str = "", layout: Draft3Layout | None = None, *, read_only: bool = True
    ) -> None:
        super().__init__(store, path)
        self.layout = Draft3Layout() if layout is None else layout
        self._writes = not read_only

    def _refusal(self) -> ReadOnlyError:
        return ReadOnlyError(
            f"{self} is in the layout of a draft of format 3, which is only read: zarr.draft3.migrate makes a "
            "hierarchy of format 3 of it"
        )

    # Keys

    def _meta(self, path: str) -> str:
        return self._below("meta", join("root", path))

    def _node_key(self, path: str, kind: str) -> str:
        return f"{self._meta(path)}.{kind}{self.layout.suffix}"

    def _data(self, path: str) -> str:
        return self._below("data", "root" if self.layout.rooted else "", path)

    def chunk_key(self, key: str) -> str | None:
        """Return the key below ``data/`` for a chunk key in the default encoding."""
        match = _CHUNK.fullmatch(key)
        if match is None:
            return None
        path, coords = (match[1] or "").rstrip("/"), match[2][1:]
        coords = coords or "0"
        return join(self._data(path), f"c{coords}" if self.layout.rooted else coords)

    # Reading

    def document_steps(self, path: str) -> Steps[bytes | None]:
        """Return the document of a node: rewritten, or a new one for a group that has members but no document."""
        for kind in ("array", "group"):
            key = self._node_key(path, kind)
            raw = yield from read_steps(key)
            if raw is not None:
                draft = parse_object(raw, key)
                return to_bytes(array_document(draft, key) if kind == "array" else group_document(draft, key))
        if path and not (yield ListDir(f"{self._meta(path)}/")):
            return None
        return to_bytes(group_document(None, path))

    def get_steps(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Steps[Buffer | None]:
        """Return the value of a key, or a range of it; None if there is no such key."""
        found = yield from super().get_steps(key, prototype, byte_range)
        if found is None and self.layout.rooted and (key == "c" or key.endswith("/c")):
            # The one chunk of an array without axes: some writers call it c0, some c.
            below = join(self._data(key[:-1].rstrip("/")), "c")
            found = yield Get(below, byte_range, prototype)
        return found

    def _node_of(self, key: str) -> tuple[str, str] | None:
        """Return the path and the kind of a node from the key of its document below ``meta/``."""
        start = self._below("meta/root")
        if not key.startswith(start):
            return None
        for kind in ("array", "group"):
            end = f".{kind}{self.layout.suffix}"
            path = key[len(start) :].removesuffix(end)
            if key.endswith(end) and (not path or path.startswith("/")):
                return path[1:], kind
        return None

    def list_dir_steps(self, prefix: str) -> Steps[list[str]]:
        """Return the names below a group, by one listing; below an array, the names of its chunks."""
        path = check_prefix(prefix).strip("/")
        found = yield ListDir(f"{self._meta(path)}/")
        names = set()
        for name in found:
            node = self._node_of(f"{self._meta(path)}/{name}")
            names.add(name if node is None else node[0].rpartition("/")[2])
        if names or not path:
            return sorted({*names, "zarr.json"})
        return child_names((yield from self.list_prefix_steps(f"{path}/")), path)

    def list_prefix_steps(self, prefix: str) -> Steps[list[str]]:
        """List all keys as format 3 has them, by a listing of documents and, if there are arrays, one of chunks."""
        check_prefix(prefix)
        listed = yield List(self._below("meta"))
        nodes = dict(node for node in map(self._node_of, listed) if node is not None)
        groups = {"", *(parent for path in nodes for parent in ancestors(path))}
        keys = {join(path, "zarr.json") for path in groups | nodes.keys()}
        arrays = {path for path, kind in nodes.items() if kind == "array"}
        wanted = {path for path in arrays if f"{path}/".startswith(prefix) or prefix.startswith(f"{path}/") or not path}
        forms = {}
        for path in sorted(wanted):
            raw = yield from read_steps(self._node_key(path, "array"))
            forms[path] = _form_of(parse_object(raw or b"{}", path))
        for top in outermost(wanted):
            chunks = yield List(self._data(top))
            keys.update(filter(None, (self._key_of(key, forms) for key in chunks)))
        return sorted(key for key in keys if key.startswith(prefix))

    def _key_of(self, below: str, forms: Mapping[str, tuple[int, str]]) -> str | None:
        """Return the key of a chunk in format 3, from its key below ``data/`` and the key forms of the arrays."""
        rest = below.removeprefix(dir_prefix(self._data("")))
        path = nearest_above(rest, forms)
        if path is None:
            return None
        ndim, separator = forms[path]
        name = rest.removeprefix(dir_prefix(path))
        if self.layout.rooted:
            if name[:1] != "c":
                return None
            name = name[1:]
        return join(path, f"c{separator}{name}" if ndim else "c")

    # Writing

    def set_steps(self, key: str, value: Buffer) -> Steps[None]:
        """Store a value at its place in the draft; rewrite a document of format 3 as one of the draft."""
        self._check_writable()
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            if below is None:
                raise ValueError(f"{key!r} is no key of a chunk: {self} takes those of the default encoding")
            yield Put(below, value)
            return
        path, document = named
        for name in path.split("/") if path else ():
            if not _NAME.fullmatch(name):
                raise ValueError(f"the name {name!r} (in {path!r}) has other characters than A-Z, a-z, 0-9, '-_.'")
        if document != "zarr.json":
            raise ValueError(f"{key!r} is a document of format 2; {self} takes those of format 3")
        node: Mapping[str, Any] = parse_object(value.to_bytes(), key)
        kind = "group" if node.get("node_type") == "group" else "array"
        yield Put(self._node_key(path, kind), type(value).from_bytes(to_bytes(draft_of(node))))

    def delete_steps(self, key: str) -> Steps[None]:
        """Remove the key, if it is there."""
        self._check_writable()
        named = split_document(key)
        if named is None:
            below = self.chunk_key(key)
            if below is not None:
                yield Delete(below)
        elif named[1] == "zarr.json":
            for kind in ("array", "group"):
                yield Delete(self._node_key(named[0], kind))

    def delete_dir_steps(self, prefix: str) -> Steps[None]:
        """Remove all keys below a folder."""
        self._check_writable()
        path = prefix.strip("/")
        yield from self.delete_steps(join(path, "zarr.json"))
        yield DeletePrefix(self._meta(path))
        yield DeletePrefix(self._data(path))


def _form_of(draft: Mapping[str, Any]) -> tuple[int, str]:
    """Return the number of coordinates in the chunk keys of an array, and their separator."""
    grid = draft.get("chunk_grid")
    return len(draft.get("shape", ())), grid.get("separator", ".") if isinstance(grid, Mapping) else "."
