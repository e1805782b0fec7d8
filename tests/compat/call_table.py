"""Calls that are made with this library and with zarr-python, as texts: programs of one or two lines.

Nothing here imports either. A call is made of a *setup* (statements), one *call* (an expression, or a statement) and a
*look* (an expression for what is compared after it, or nothing where the call's own value is). The names that a
program may use are those of ``tests/compat/call_runner.py``.
"""

# ruff: noqa: E501  (a row of the table is one line)
from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

FORMATS = ("2", "3")


class Call(NamedTuple):
    """One program."""

    setup: str
    call: str
    look: str = ""

    @property
    def name(self) -> str:
        """The whole program in one line; unique in the table."""
        return "; ".join(part for part in self if part)


def texts(pattern: str, **choices: tuple[str, ...]) -> Iterator[str]:
    """Fill the names in angle brackets of a pattern with all combinations of choices."""
    for values in product(*choices.values()):
        text = pattern
        for name, value in zip(choices, values, strict=True):
            text = text.replace(f"<{name}>", value)
        yield text


def varied(function: str, base: str, values: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Call a function with one keyword argument at a time varied, and in both formats."""
    yield f"{function}({base})"
    for name, choices in values.items():
        for value in choices:
            for form in FORMATS:
                kept = [part for part in base.split("; ") if not part.startswith(f"{name}=")]
                kept += [] if name == "zarr_format" else [f"zarr_format={form}"]
                if value != "ABSENT":
                    kept.append(f"{name}={value}")
                yield f"{function}({', '.join(kept)})"


# ---------------------------------------------------------------------------------------------- values of parameters
SHAPES = (
    "5", "(5,)", "[5, 4]", "(0,)", "()", "(4, 0)", "np.int64(5)", "(np.int32(5), 3)", "-1", "(-1,)", "(5, -2)", "None",
    "5.0", "(5.5,)", "'5'", "('5',)", "'ab'", "(None,)", "True", "{}", "object()", "(2**40,)", "(2**70,)",
    "np.array([5, 4])", "(3, 3, 3)", "range(2, 4)", "b'5'", "[[5]]", "1j", "float('nan')",
)  # fmt: skip
DTYPES = (
    "'i4'", "'<i4'", "'>i4'", "'int32'", "np.int32", "np.dtype('f8')", "float", "int", "bool", "str", "bytes", "complex",
    "object", "None", "'S5'", "'U3'", "'S'", "'U'", "'M8[s]'", "'m8[ms]'", "'M8'", "'f2'", "'c8'", "'c16'", "'u1'",
    "'V4'", "'V'", "[('a', 'i4'), ('b', 'f8')]", "[('a', 'i4', (2,))]", "'nonsense'", "5", "''", "('i4', (2,))",
    "'string'", "'i4,f8'", "object()", "{}", "[]", "'O'", "'g'", "'int128'", "np.dtypes.StringDType()",
    "{'name': 'int32'}", "{'name': 'numpy.datetime64', 'configuration': {'unit': 's', 'scale_factor': 1}}", "'r16'",
    "'bool'", "'|b1'", "'float16'", "'datetime64[ns]'", "np.dtype([])", "list", "'=i4'", "'uint'", "True", "b'i4'",
)  # fmt: skip
CHUNKS = (
    "2", "(2,)", "(2, 2)", "(1,)", "(100,)", "(0,)", "0", "-1", "(-1,)", "(-2,)", "None", "True", "False", "'auto'",
    "'x'", "2.0", "(2.5,)", "(2, 2, 2)", "()", "(None,)", "(None, 2)", "[2, 3]", "np.int64(2)", "(np.int64(2),)",
    "[[2, 3], [4]]", "((2, 2, 1), 4)", "{}", "object()", "np.array([2, 2])", "'2'", "2**40", "((2, 3), (2, 2))",
    "((2, 2), (2, 2))", "([],)", "((2, -1), 4)", "((5,), (4,))",
)  # fmt: skip
SHARDS = (
    "None", "'auto'", "(4, 4)", "(2, 2)", "(3, 3)", "4", "(4,)", "True", "False", "'x'", "0", "-1", "(0, 4)", "(4, 0)",
    "(4, 4, 4)", "4.0", "{}", "((4, 4), 4)", "{'shape': (4, 4)}", "{'shape': (4, 4), 'index_location': 'start'}",
    "{'shape': (4, 4), 'index_location': 'middle'}", "(8, 8)", "np.int64(4)", "[4, 4]", "object()", "(1, 1)",
)  # fmt: skip
FILLS = (
    "0", "1", "-1", "None", "1.5", "'a'", "b'a'", "float('nan')", "True", "np.int32(7)", "np.float64(2)", "2**40", "[]",
    "[1]", "{}", "object()", "np.array(3)", "np.array([3])", "'0'", "'NaN'", "1j", "np.datetime64('NaT')", "''",
)  # fmt: skip
ORDERS = ("'C'", "'F'", "'A'", "'c'", "None", "''", "1", "object()", "True", "[]")
ATTRIBUTES = (
    "{}", "{'a': 1}", "None", "{'a': None}", "[]", "{1: 2}", "'x'", "5", "{'a': object()}", "{'a': float('nan')}",
    "{'a': [1, {'b': (1, 2)}]}", "{'a': np.arange(2)}", "{'': 1}", "{'a': b'x'}", "{'a': {1, 2}}", "[('a', 1)]",
    "{None: 1}", "{'a': 1j}", "{'a': 2**80}",
)  # fmt: skip
NAMES = (
    "'x'", "'a/b'", "'/x'", "'x/'", "'a//b'", "''", "'/'", "None", "'.'", "'..'", "'../x'", "'a/../b'", "5", "b'x'",
    "'__x'", "'zarr.json'", "'a b'", "'é'", "'a\\\\b'", "' '", "object()", "'.zarray'", "'c'", "Path('x')", "[]",
)  # fmt: skip
FORMAT_VALUES = ("2", "3", "None", "1", "4", "0", "-1", "'3'", "3.0", "'x'", "True", "[]", "np.int64(3)", "np.int64(2)")
BOOLS = ("True", "False", "None", "0", "1", "'x'", "[]", "np.True_", "object()")
CODECS = (
    "None", "'auto'", "()", "[]", "'zstd'", "'x'", "5", "object()", "{}", "{'name': 'gzip'}", "{'id': 'gzip'}",
    "{'name': 'gzip', 'configuration': {'level': 1}}", "{'id': 'gzip', 'level': 1}", "numcodecs.GZip(1)",
    "[numcodecs.GZip(1)]", "zarr.codecs.GzipCodec(level=1)", "[zarr.codecs.GzipCodec(level=1)]",
    "[zarr.codecs.BytesCodec()]", "zarr.codecs.BytesCodec()", "[zarr.codecs.GzipCodec(), zarr.codecs.ZstdCodec()]",
    "[None]", "{'name': 'nope'}", "{'id': 'nope'}", "[{'id': 'zstd', 'level': 3}]", "False", "numcodecs.Delta('i4')",
    "[numcodecs.Delta('i4')]", "zarr.codecs.TransposeCodec(order=(1, 0))", "[zarr.codecs.TransposeCodec(order=(1, 0))]",
    "zarr.codecs.Crc32cCodec()", "{'name': 'gzip', 'configuration': {'level': 99}}", "numcodecs.Blosc()", "'bytes'",
)  # fmt: skip
SEPARATORS = ("'.'", "'/'", "None", "'x'", "''", "1", "object()", "'-'")
KEY_ENCODINGS = (
    "None", "'default'", "'v2'", "{'name': 'default'}", "{'name': 'v2', 'separator': '/'}", "'x'", "{}", "5", "object()",
    "{'name': 'default', 'separator': '.'}", "{'name': 'default', 'configuration': {'separator': '.'}}",
    "{'name': 'v2', 'configuration': {'separator': '/'}}", "{'name': 'x'}", "{'separator': '.'}", "[]", "('v2', '/')",
    "{'name': 'default', 'separator': 'x'}",
)  # fmt: skip
DIMENSION_NAMES = (
    "None", "()", "('x',)", "('x', 'y')", "['x', None]", "('x', 'x')", "('x', 'y', 'z')", "'xy'", "5", "(1, 2)", "{}",
    "(None, None)", "('', '')", "object()",
)  # fmt: skip
CONFIGS = (
    "None", "{}", "{'order': 'F'}", "{'order': 'x'}", "{'write_empty_chunks': True}", "{'write_empty_chunks': 'x'}",
    "{'nope': 1}", "5", "'x'", "[]", "object()", "{'read_missing_chunks': False}", "{'order': 'F', 'nope': 1}",
    "{'read_missing_chunks': 1}",
)  # fmt: skip
STORES = (
    "MemoryStore()", "'x.zarr'", "Path('x.zarr')", "LocalStore('x.zarr')", "{}", "None", "5", "object()", "''", "[]",
    "StorePath(MemoryStore(), 'p')", "b'x'", "'a/b/c.zarr'", "MemoryStore(read_only=True)",
    "LocalStore('x.zarr', read_only=True)", "'nope://x'", "True", "1.5", "{'a': 1}", "'x.zip'",
)  # fmt: skip
DATA = (
    "np.arange(5)", "[1, 2, 3]", "5", "1.5", "'abc'", "b'abc'", "None", "np.array(3)", "[[1, 2], [3]]", "['a', 'b']",
    "np.zeros((0,))", "np.array(['a', 'bb'])", "np.array([b'a', b'bb'])", "np.array([True, False])", "object()", "[]",
    "np.array([1, 'x'], dtype=object)", "np.array(['2020'], dtype='M8[D]')", "np.arange(6).reshape(2, 3).T", "{}",
    "np.zeros(2, dtype=[('a', 'i4'), ('b', 'f4')])", "range(3)", "(1, 2)", "np.int64(4)", "DuckArray()",
    "np.ma.masked_array([1, 2], [0, 1])", "memoryview(b'abc')", "bytearray(b'ab')", "{1, 2}", "True",
    "array2()", "array3()", "AsyncArrayOf(array3())", "sharded()", "zerod(3)", "fields(2)", "fields(3)",
    "np.array(['a', 'bb'], dtype='T')", "np.arange(12, dtype='>i2').reshape(3, 4)[::2]",
)  # fmt: skip
MODES = ("'r'", "'r+'", "'a'", "'w'", "'w-'", "None", "'x'", "''", "5", "'rb'", "'R'", "object()", "'wb'")

CREATE = {
    "shape": (*SHAPES, "ABSENT"), "dtype": (*DTYPES, "ABSENT"), "chunks": CHUNKS, "fill_value": FILLS, "order": ORDERS,
    "attributes": ATTRIBUTES, "zarr_format": FORMAT_VALUES, "dimension_names": DIMENSION_NAMES, "config": CONFIGS,
    "storage_options": ("None", "{}", "{'a': 1}", "5"), "nope": ("1",), "overwrite": BOOLS,
}  # fmt: skip
CREATE_OLD = {
    **CREATE, "compressor": CODECS, "filters": CODECS, "dimension_separator": SEPARATORS, "path": NAMES, "store": STORES,
    "read_only": ("True", "False", "None"), "object_codec": ("None", "numcodecs.VLenUTF8()"), "codecs": CODECS,
    "synchronizer": ("None", "1"), "cache_metadata": ("True", "None"), "cache_attrs": ("True",), "meta_array": ("1",),
    "write_empty_chunks": BOOLS, "chunk_shape": CHUNKS[:12], "chunk_key_encoding": KEY_ENCODINGS, "chunk_store": ("1",),
    "mode": MODES,
}  # fmt: skip
CREATE_NEW = {
    **CREATE, "name": NAMES, "shards": SHARDS, "filters": CODECS, "compressors": CODECS, "serializer": CODECS,
    "chunk_key_encoding": KEY_ENCODINGS, "write_data": BOOLS[:4],
}  # fmt: skip
CREATE_IN_GROUP = {k: v for k, v in CREATE_NEW.items() if k not in ("zarr_format", "name")}


def creating() -> Iterator[Call]:
    """Functions that create one array."""
    store = "store = MemoryStore()"
    old, new = (
        "store=store; shape=(5, 4); dtype='i4'; chunks=(2, 2)",
        "store=store; shape=(5, 4); dtype='i4'; chunks=(2, 2)",
    )
    for text in varied("zarr.create", old, CREATE_OLD):
        yield Call(store, text)
    for text in varied("zarr.create_array", new, CREATE_NEW | {"store": STORES}):
        yield Call(store, text)
    for function in ("empty", "zeros", "ones"):
        few = {k: CREATE_OLD[k] for k in ("shape", "dtype", "chunks", "fill_value", "order", "path", "store")}
        for text in varied(f"zarr.{function}", old, few):
            yield Call(store, text)
    for text in varied("zarr.full", f"{old}; fill_value=3", {"fill_value": (*FILLS, "ABSENT"), "dtype": DTYPES}):
        yield Call(store, text)
    for data, form in product(DATA, FORMATS):
        yield Call(store, f"zarr.create_array(store, data={data}, zarr_format={form})")
        yield Call(store, f"zarr.create_array(store, data={data}, zarr_format={form}, shards='auto')")
        yield Call(store, f"zarr.array({data}, store=store, zarr_format={form})")
        yield Call(store, f"zarr.from_array(store, data={data}, zarr_format={form})")
        yield Call(store, f"zarr.save_array(store, {data}, zarr_format={form})", "zarr.open(store, mode='r')")
        yield Call(store, f"zarr.save(store, {data}, zarr_format={form})", "zarr.open(store, mode='r')")
        yield Call(store, f"zarr.save(store, a={data}, zarr_format={form})", "zarr.open(store, mode='r')")
        yield Call(store, f"zarr.save(store, {data}, {data}, zarr_format={form})", "zarr.open(store, mode='r')")
        yield Call(store, f"zarr.save_group(store, {data}, b={data}, zarr_format={form})", "zarr.open(store, mode='r')")
        for like in ("empty_like", "zeros_like", "ones_like"):
            yield Call(store, f"zarr.{like}({data}, store=store, zarr_format={form})")
        yield Call(store, f"zarr.full_like({data}, fill_value=1, store=store, zarr_format={form})")
        yield Call(store, f"zarr.open_like({data}, 'p', store=store, zarr_format={form})")
        yield Call(store, f"zarr.create_array(store, data={data}, dtype='i4', zarr_format={form})")
        yield Call(store, f"zarr.create_array(store, data={data}, shape=(5,), zarr_format={form})")
        yield Call(store, f"zarr.create_array(store, data={data}, shape=(5,), dtype='i4', zarr_format={form})")
        yield Call(store, f"zarr.array({data}, dtype='f4', chunks=2, store=store, zarr_format={form})")
    for data in ("array2()", "array3()", "sharded()", "np.arange(20).reshape(5, 4)"):
        some = {k: v for k, v in CREATE_NEW.items() if k not in ("shape", "dtype", "nope", "storage_options")}
        for text in varied(
            "zarr.from_array", f"store=store; data={data}", {k: ("'keep'", *v) for k, v in some.items()}
        ):
            yield Call(store, text)
        for like in ("zeros_like", "ones_like", "empty_like", "full_like"):
            few = {
                "chunks": CHUNKS[:14],
                "dtype": DTYPES[:12],
                "order": ORDERS,
                "shape": SHAPES[:12],
                "compressor": CODECS[:16],
            }
            fill = "; fill_value=2" if like == "full_like" else ""
            for text in varied(f"zarr.{like}", f"a={data}; store=store{fill}", few):
                yield Call(store, text)
    for shards, chunks in product(SHARDS, ("'auto'", "(2, 2)", "(3, 2)", "2", "True")):
        yield Call(store, f"zarr.create_array(store, shape=(8, 8), dtype='u1', chunks={chunks}, shards={shards})")
    for dtype, fill, form in product(DTYPES[:24], FILLS, FORMATS):
        yield Call(store, f"zarr.create(3, dtype={dtype}, fill_value={fill}, store=store, zarr_format={form})")


def opening() -> Iterator[Call]:
    """Functions that open, and make what is not there, over stores with several things in them."""
    there = ("empty", "array2", "array3", "group2", "group3", "consolidated2", "consolidated3", "both", "broken")
    for content, place, mode, form in product(there, ("MemoryStore()", "'x.zarr'"), MODES[:6], ("2", "3", "None")):
        setup = f"store = filled({content!r}, {place})"
        for function in ("open", "open_array", "open_group"):
            more = "" if function == "open_group" else ", shape=(3,), dtype='i4'"
            yield Call(setup, f"zarr.{function}(store, mode={mode}, zarr_format={form})")
            if more:
                yield Call(setup, f"zarr.{function}(store, mode={mode}, zarr_format={form}{more})")
    for content, function in product(there, ("open", "open_array", "open_group", "open_consolidated", "group", "load",
                                             "consolidate_metadata", "create_group", "open_group_async")):  # fmt: skip
        setup = f"store = filled({content!r}, MemoryStore())"
        name = "run(zarr.api.asynchronous.open_group" if function == "open_group_async" else f"zarr.{function}"
        end = ")" if function == "open_group_async" else ""
        yield Call(setup, f"{name}(store){end}")
        for path in NAMES:
            yield Call(setup, f"{name}(store, path={path}){end}")
        if function != "open_group_async":
            for form in FORMAT_VALUES:
                yield Call(setup, f"{name}(store, zarr_format={form}){end}")
    for mode, function in product(MODES, ("open", "open_array", "open_group", "open_consolidated")):
        for content in ("array3", "group3"):
            yield Call(f"store = filled({content!r}, MemoryStore())", f"zarr.{function}(store, mode={mode})")
    for store, function in product(STORES, ("open", "open_array", "open_group", "open_consolidated", "group", "load", "save",
                                            "create_group", "consolidate_metadata", "tree")):  # fmt: skip
        more = ", np.arange(3)" if function == "save" else ""
        yield Call("", f"zarr.{function}({store}{more})")
        if function.startswith("open"):
            yield Call("", f"zarr.{function}({store}, mode='r')")
            yield Call("", f"zarr.{function}({store}, mode='w')")
    for function, content in product(("open_group", "group", "create_group"), ("empty", "group3", "array3", "group2")):
        for name, values in {"attributes": ATTRIBUTES, "overwrite": BOOLS, "storage_options": ("None", "{}", "{'a': 1}"),
                             "use_consolidated": ("True", "False", "None", "'.zmetadata'", "'x'", "5"),
                             "synchronizer": ("1",), "chunk_store": ("1",), "meta_array": ("1",), "nope": ("1",)}.items():  # fmt: skip
            for value, form in product(values, FORMATS):
                call = f"zarr.{function}(store, {name}={value}, zarr_format={form})"
                yield Call(f"store = filled({content!r}, MemoryStore())", call)
    for content in ("consolidated2", "consolidated3", "group3"):
        for value in ("True", "False", "None", "'.zmetadata'", "'x'"):
            for method in ("members()", "keys()", "metadata.consolidated_metadata", "tree()", "nmembers(None)"):
                call = f"zarr.open_group(store, use_consolidated={value}).{method}"
                yield Call(f"store = filled({content!r}, MemoryStore())", call)
    for config, content in product(CONFIGS, ("array2", "array3")):
        yield Call(f"store = filled({content!r}, MemoryStore())", f"zarr.open_array(store, config={config})")
        yield Call(f"store = filled({content!r}, MemoryStore())", f"zarr.open(store, config={config})")
    for args in ("", "np.arange(3), x=np.arange(2)", "x=[1, 2]", "a=np.arange(3), b='x'", "5, 6", "np.arange(3), path='p'",
                 "np.arange(3), path='p/q'", "x=np.arange(3), path='p'", "np.arange(3), chunks=2", "np.arange(3), mode='w'",
                 "np.arange(3), overwrite=True", "np.arange(3), attributes={'a': 1}", "np.arange(3), zarr_format=2"):  # fmt: skip
        for function, content in product(("save", "save_array", "save_group"), ("empty", "array3", "group3")):
            yield Call(f"store = filled({content!r}, MemoryStore())", f"zarr.{function}(store{', ' if args else ''}{args})",
                       "zarr.open(store, mode='r')")  # fmt: skip
    for function in ("copy", "copy_all", "copy_store"):
        yield Call("store = filled('group3', MemoryStore())", f"zarr.{function}(zarr.open(store), zarr.group())")
    for nodes in ("{}", "{'a': GroupMetadata()}", "{'a/b': GroupMetadata()}", "{'': GroupMetadata(attributes={'q': 1})}", "[]",
                  "{'a': 5}", "{5: GroupMetadata()}", "{'a': GroupMetadata(zarr_format=2), 'b': GroupMetadata()}", "None",
                  "{'a': array3().metadata}", "{'a': array3().metadata, 'a/b': array3().metadata}", "{'a/../b': GroupMetadata()}",
                  "{'/a/': GroupMetadata(), 'a': GroupMetadata()}", "{'a': array2().metadata}"):  # fmt: skip
        for content, over in product(("empty", "group3", "array3"), BOOLS[:3]):
            setup = f"store = filled({content!r}, MemoryStore())"
            yield Call(setup, f"sorted_pairs(zarr.create_hierarchy(store=store, nodes={nodes}, overwrite={over}))")
            yield Call(setup, f"sorted_pairs(zarr.group(store).create_hierarchy({nodes}, overwrite={over}))")


SELECTIONS = (
    "0", "-1", "5", "-7", "()", "...", "slice(None)", "slice(0, 0)", "slice(1, 3)", "slice(3, 1)", "slice(None, None, 2)",
    "slice(None, None, -1)", "slice(None, None, 0)", "slice(2, 1, -1)", "None", "True", "False", "np.True_", "'a'",
    "'nope'", "b'a'", "1.0", "1.5", "np.int64(1)", "np.uint8(1)", "np.float64(1)", "[0]", "[0, 1]", "[]", "[0, 9]", "[-1]",
    "[-9]", "[True, False]", "[True, False, True, False, True]", "np.array([0, 2])", "np.array([[0, 1], [1, 2]])", "object()",
    "(0, 0)", "(0, 0, 0)", "(..., ...)", "(0, ...)", "(..., 0)", "([0, 1], [0, 1])", "([0, 1], slice(None))",
    "(slice(0, 2), [0, 2])", "np.ix_([0, 1], [0, 2])", "slice('a')", "slice(None, None, 1.5)", "slice(0.0, 2)", "10**30",
    "-10**30", "slice(0, 10**30)", "slice(-10**30, None)", "(1,)", "[1.0]", "[['a']]", "range(2)", "{0}", "{'a': 1}",
    "np.array(1)", "np.array(True)", "np.arange(5) > 1", "np.ones((5, 4), bool)", "np.ones((4, 5), bool)",
    "np.arange(20).reshape(5, 4) % 3 == 0", "(slice(None), None)", "(None, 0)", "([0, 1], [0, 1, 2])", "(0, [1, 2])",
    "(np.array([0, 1]), 2)", "(slice(1, 3), slice(1, 3))", "(slice(None, None, 2), slice(None, None, 3))",
    "['a']", "['a', 'b']", "['a', 'nope']", "('a', 0)", "(0, 'a')", "[None]", "(True, 0)", "([2, 0], [1, 1])", "(-1, -1)",
    "(slice(None), -1)", "[[0, 1]]", "np.array([1, 1])", "np.array([], dtype=int)", "np.array([0.0, 1.0])", "1j",
    "(slice(None), [True, False, True, True])", "([True] * 5, [False] * 4)", "np.array(['0'])", "slice(None, None, -2)",
)  # fmt: skip
ARRAYS = ("array2()", "array3()", "sharded()", "line(3)", "zerod(3)", "fields(3)", "hollow(3)")
READS = (
    "z[<s>]", "z.get_basic_selection(<s>)", "z.oindex[<s>]", "z.vindex[<s>]", "z.blocks[<s>]", "z.get_mask_selection(<s>)",
    "z.get_orthogonal_selection(<s>)", "z.get_coordinate_selection(<s>)", "z.get_block_selection(<s>)",
    "run(z.async_array.getitem(<s>))", "run(z.async_array.oindex.getitem(<s>))", "run(z.async_array.vindex.getitem(<s>))",
)  # fmt: skip
VALUES = (
    "1", "-1", "1.5", "'x'", "None", "object()", "b'x'", "True", "1j", "[]", "[1]", "[1, 2]", "np.arange(4)",
    "np.arange(5)", "np.arange(20).reshape(5, 4)", "np.ones((2, 2))", "np.int64(3)", "np.array(3)", "2**40", "2**80", "'3'",
    "float('nan')", "{}", "[[1, 2], [3]]", "np.array(['x'])", "np.array([None])", "np.zeros((0, 4))", "array3()",
    "np.datetime64('2020')", "DuckArray()", "slice(None)", "np.zeros((1, 1, 1))", "range(4)", "np.zeros((0,))", "(1, 1.5)",
)  # fmt: skip
WRITES = (
    "z[<s>] = <v>", "z.set_basic_selection(<s>, <v>)", "z.oindex[<s>] = <v>", "z.vindex[<s>] = <v>",
    "z.set_coordinate_selection(<s>, <v>)", "z.set_mask_selection(<s>, <v>)", "z.set_orthogonal_selection(<s>, <v>)",
    "z.blocks[<s>] = <v>", "z.set_block_selection(<s>, <v>)", "run(z.async_array.setitem(<s>, <v>))",
)  # fmt: skip
PLACES = (
    "...", "0", "slice(0, 0)", "slice(1, 3)", "()", "(0, 0)", "[0, 1]", "([0, 1], [0, 1])", "(slice(None), 0)",
    "np.arange(5) > 1", "np.ones((5, 4), bool)", "9", "slice(2, 1)", "[]", "slice(None, None, 2)",
)  # fmt: skip


def selecting() -> Iterator[Call]:
    """Reads and writes of elements."""
    for array, read, selection in product(ARRAYS, READS, SELECTIONS):
        if array in ("array2()", "hollow(3)") and read.startswith("run"):
            continue
        yield Call(f"z = {array}", read.replace("<s>", selection))
    for write, place, value in product(WRITES, PLACES, VALUES):
        yield Call("z = array3()", write.replace("<s>", place).replace("<v>", value), "z[...]")
    for write, selection in product(WRITES, SELECTIONS):
        for array in ("array2()", "sharded()", "line(3)", "zerod(3)"):
            yield Call(f"z = {array}", write.replace("<s>", selection).replace("<v>", "7"), "z[...]")
    for dtype, place, value in product(DTYPES[:24], ("...", "slice(0, 0)", "0", "slice(0, 2)"), VALUES):
        yield Call(
            f"z = zarr.zeros(4, chunks=2, dtype={dtype}, store=MemoryStore())", f"z[{place}] = {value}", "z[...]"
        )
    for field in (
        "'a'",
        "['a']",
        "['a', 'b']",
        "'nope'",
        "['nope']",
        "5",
        "[]",
        "None",
        "('a',)",
        "b'a'",
        "['a', 'a']",
    ):
        for form, selection in product(FORMATS, ("...", "0", "slice(0, 2)", "[0, 1]", "np.ones(4, bool)")):
            z = f"z = fields({form})"
            for kind in ("basic", "orthogonal", "coordinate", "mask", "block"):
                yield Call(z, f"z.get_{kind}_selection({selection}, fields={field})")
                yield Call(z, f"z.set_{kind}_selection({selection}, 1, fields={field})", "z[...]")
            yield Call(z, f"z[{field}, {selection}]")
            yield Call(z, f"z[{field}]")


def array_methods() -> Iterator[Call]:
    """What arrays offer besides elements."""
    names = ["shape", "dtype", "chunks", "shards", "fill_value", "order", "ndim", "size", "nbytes", "nchunks", "nchunks_initialized", "cdata_shape", "attrs", "name", "path", "basename", "read_only", "compressor", "compressors", "filters", "serializer", "info", "config", "metadata", "read_chunk_sizes", "write_chunk_sizes", "store", "store_path"]  # fmt: skip
    arrays = (*ARRAYS, "array2(order='F')", "array3(order='F')", "array2('x.zarr')", "array3('x.zarr')", "named(2)", "named(3)",
              "line(2)", "zerod(2)", "fields(2)", "hollow(2)", "texts(2)", "texts(3)", "ragged()", "rectilinear()")  # fmt: skip
    for array, name in product(arrays, names):
        yield Call(f"z = {array}", f"z.{name}")
        if name not in ("fill_value", "config", "read_only"):
            yield Call(f"z = {array}", f"settled(z.async_array.{name})")
    for array, call in product(arrays, ("info_complete()", "nbytes_stored()", "__len__()", "__array__()", "__iter__()", "__repr__()",
                                        "__str__()", "__array__(dtype='f4')", "__bool__()", "__int__()", "__float__()",
                                        "__index__()", "__hash__()", "__dir__", "nope", "__contains__(1)")):  # fmt: skip
        yield Call(f"z = {array}", f"z.{call}")
    shapes = ("(7, 4)", "(3, 4)", "(0, 0)", "(5, 4)", "5", "(5,)", "(5, 4, 3)", "None", "(-1, 4)", "(5.0, 4)", "'ab'", "()", "[6, 6]",
              "(np.int64(6), 2)", "(None, 4)", "object()", "(2**40, 4)", "7, 4")  # fmt: skip
    for array, shape in product((*arrays[:5], "array2(order='F')", "array3('x.zarr')"), shapes):
        yield Call(f"z = {array}", f"z.resize({shape})", "z")
        yield Call(f"z = {array}", f"run(z.async_array.resize({shape}))", "z")
    appended = ("np.ones((2, 4), 'i4')", "np.ones((2, 5), 'i4')", "[[1, 2, 3, 4]]", "np.ones(4)", "5", "None", "'x'", "np.ones((0, 4))",
                "np.ones((5, 2))", "array3()", "[]", "np.ones(3)", "np.array(1)", "object()", "[['a', 'b', 'c', 'd']]")  # fmt: skip
    for array, data, axis in product(
        arrays[:6], appended, ("", ", axis=1", ", axis=-1", ", axis=2", ", axis='x'", ", axis=None")
    ):
        yield Call(f"z = {array}", f"z.append({data}{axis})", "z")
    for array, data in product(("array2()", "array3()"), appended):
        yield Call(f"z = {array}", f"run(z.async_array.append({data}))", "z")
    for array, attributes in product(("array2()", "array3()", "named(3)"), ATTRIBUTES):
        yield Call(f"z = {array}", f"z.update_attributes({attributes})", "dict(z.attrs)")
        yield Call(f"z = {array}", f"run(z.async_array.update_attributes({attributes}))")
        yield Call(f"z = {array}", f"z.attrs.put({attributes})", "dict(z.attrs)")
        yield Call(f"z = {array}", f"z.attrs.update({attributes})", "dict(z.attrs)")
        for name in ("'k'", "5", "None", "''"):
            yield Call(f"z = {array}", f"z.attrs[{name}] = {attributes}", "dict(z.attrs)")
    for array, call in product(("array2()", "array3()"), ("attrs['nope']", "attrs.pop('nope')", "attrs.get('q', 3)", "attrs.asdict()",
                                                         "attrs.clear()", "attrs.keys()", "attrs.setdefault('w', 2)", "attrs[5]",
                                                         "attrs.__delitem__('q')", "attrs.__delitem__('nope')", "attrs.popitem()",
                                                         "attrs.__contains__('q')", "attrs.items()", "attrs.nope")):  # fmt: skip
        yield Call(
            f"z = {array}", f"z.{call}", "dict(z.attrs)" if call.startswith("attrs.__del") or "pop" in call else ""
        )
    for array, config in product(("array2()", "array3()"), CONFIGS):
        yield Call(f"z = {array}", f"z.with_config({config})")
        yield Call(f"z = {array}", f"settled(z.async_array.with_config({config}))")
    for store, form in product(STORES, ("",)):
        yield Call("", f"zarr.Array.open({store}{form})")
        yield Call("", f"settled(zarr.AsyncArray.open({store}{form}))")
    for key, values in SETTINGS.items():
        for value in values:
            call = f"hold(zarr.config.set({{{key!r}: {value}}}))"
            yield Call("", call, "zarr.create_array(MemoryStore(), data=np.arange(8), chunks=2)")
            yield Call("", call, "zarr.create((4, 4), dtype='f4', store=MemoryStore())")


SETTINGS = {
    "codec_pipeline.batch_size": ("1", "2", "100", "0", "-1", "'x'", "None", "1.5", "True"),
    "array.order": ("'C'", "'F'", "'x'", "None", "5"),
    "array.write_empty_chunks": ("True", "False", "'x'", "None", "5"),
    "async.concurrency": ("1", "10", "'x'", "None", "1.5"),
    "async.timeout": ("None", "10", "10.5", "'x'", "-1"),
    "threading.max_workers": ("None", "1", "2", "0", "-1", "'x'", "1.5"),
    "json_indent": ("2", "0", "None", "'x'", "-1", "4", "1.5"),
    "default_zarr_format": ("2", "3", "'x'", "None", "4", "2.0"),
    "nobody.knows": ("1", "'x'"),
}


def grouping() -> Iterator[Call]:
    """Methods of groups."""
    for form, kind in product(FORMATS, ("sync", "async")):
        setup = f"g = tree({form}); ag = AsyncGroupOf(g)"
        before, after = ("g.", "") if kind == "sync" else ("settled(ag.", ")")
        look = "g"
        base = "name='x'; shape=(5, 4); dtype='i4'; chunks=(2, 2)"
        for text in varied("METHOD", base, CREATE_IN_GROUP | {"name": NAMES, "compressor": CODECS[:16]}):
            if f"zarr_format={form}" in text or "zarr_format" not in text:
                text = text.replace(f", zarr_format={form}", "").replace("METHOD", "").replace("; ", ", ")
                yield Call(setup, f"{before}create_array{text}{after}")
                if "compress" not in text and "filters" not in text and "serializer" not in text:
                    yield Call(setup, f"{before}require_array{text}{after}")
        for data in DATA:
            yield Call(setup, f"{before}create_array('x', data={data}){after}")
            yield Call(setup, f"{before}create_array('x', data={data}, chunks=(2,)){after}")
            yield Call(setup, f"{before}create_array('x', data={data}, shape=(5,)){after}")
            yield Call(setup, f"{before}create_array('x', data={data}, dtype='f4'){after}")
            yield Call(setup, f"{before}create_array('x', data={data}, write_data=False){after}")
            yield Call(setup, f"{before}create_array('x', data={data}, fill_value=1){after}")
            for like in ("empty_like", "zeros_like", "ones_like"):
                yield Call(setup, f"{before}{like}(name='x', data={data}){after}")
            yield Call(setup, f"{before}full_like(name='x', data={data}, fill_value=2){after}")
            if kind == "sync":
                yield Call(setup, f"g['x'] = {data}", "g['x']")
                yield Call(setup, f"g['a'] = {data}", "g['a']")
            else:
                yield Call(setup, f"settled(ag.setitem('x', {data}))", "g['x']")
        for method, shape in product(("empty", "zeros", "ones", "full"), SHAPES):
            fill = ", fill_value=4" if method == "full" else ""
            yield Call(setup, f"{before}{method}(name='x', shape={shape}{fill}){after}")
            yield Call(setup, f"{before}{method}(name='x', shape={shape}{fill}, dtype='i4', chunks=2){after}")
        keys = (*NAMES, "'a'", "'sub'", "'sub/b'", "'/a'", "'a/'", "'sub/'", "'nope'", "'sub/nope'", "'a/nope'", "'sub/../a'", "0",
                "...", "('a',)", "np.str_('a')", "slice(None)")  # fmt: skip
        for key in keys:
            for method in ("get", "get_array", "get_group", "require_group", "create_group", "require_groups"):
                yield Call(setup, f"{before}{method}({key}){after}")
            names = (
                ("__getitem__", "__contains__", "__delitem__") if kind == "sync" else ("getitem", "contains", "delitem")
            )
            for method in names:
                yield Call(setup, f"{before}{method}({key}){after}", look if "del" in method else "")
            yield Call(setup, f"{before}get({key}, 5){after}")
            yield Call(setup, f"{before}create_group({key}, overwrite=True){after}", look)
            yield Call(setup, f"{before}require_group({key}, overwrite=True){after}", look)
            yield Call(setup, f"{before}create_array({key}, shape=3, dtype='i4'){after}", look)
            yield Call(setup, f"{before}create_array({key}, shape=3, dtype='i4', overwrite=True){after}", look)
            yield Call(setup, f"{before}move({key}, 'new'){after}", look)
            yield Call(setup, f"{before}move('a', {key}){after}", look)
        for attributes in ATTRIBUTES:
            yield Call(setup, f"{before}create_group('new', attributes={attributes}){after}")
            yield Call(setup, f"{before}update_attributes({attributes}){after}", "dict(g.attrs)")
            if kind == "sync":
                yield Call(setup, f"g.attrs.put({attributes})", "dict(g.attrs)")
                yield Call(setup, f"g.attrs.update({attributes})", "dict(g.attrs)")
                yield Call(setup, f"g.attrs['k'] = {attributes}", "dict(g.attrs)")
                yield Call(setup, f"settled(g.update_attributes_async({attributes}))", "dict(g.attrs)")
        for depth in ("", "0", "1", "2", "None", "-1", "'x'", "1.5", "max_depth=None", "10**9", "True"):
            yield Call(setup, f"{before}members({depth}){after}")
            yield Call(setup, f"{before}nmembers({depth}){after}")
        for lister in ("keys", "array_keys", "group_keys", "arrays", "groups", "array_values", "group_values"):
            yield Call(setup, f"{before}{lister}(){after}")
        for text in ("tree()", "tree(level=1)", "tree(level=0)", "tree(level=-1)", "tree(expand=True)", "tree(level='x')", "tree(max_nodes=1)",
                     "tree(plain=True)", "tree(max_nodes=0)", "info_complete()", "require_groups()", "require_groups('a', 'q')",
                     "require_groups('q', 'r/s')", "create_group()", "create_array()", "create_array('x')", "create_array('x', 5)",
                     "create_group('n', nope=1)", "create_array('x', shape=3)", "create_array('x', dtype='i4')", "nope()"):  # fmt: skip
            yield Call(setup, f"{before}{text}{after}")
        for name in (
            "name",
            "path",
            "basename",
            "attrs",
            "metadata",
            "read_only",
            "synchronizer",
            "info",
            "store",
            "store_path",
            "nope",
        ):
            yield Call(setup, f"{before}{name}{after}")
        for shape, dtype, exact in product(("(5, 4)", "(4, 5)", "5", "None", "'x'", "(5.0, 4)"), ("'i4'", "'i2'", "'f8'", "None", "'x'"),
                                           ("", ", exact=True", ", exact=False", ", exact=None")):  # fmt: skip
            yield Call(setup, f"{before}require_array('a', shape={shape}, dtype={dtype}{exact}){after}")
            yield Call(setup, f"{before}require_array('sub', shape={shape}, dtype={dtype}{exact}){after}")
    for call in ("len(g)", "list(g)", "g.__iter__()", "repr(g)", "str(g)", "bool(g)", "g == g", "g == tree(3)", "hash(g) is None", "g + 1",
                 "g.create('x', shape=(3,), dtype='i4')", "g.create('x', data=np.arange(3))", "g.create('x')", "g[0]", "g['a', 'b']",
                 "g['a'][0]", "g['a', 0]", "g.nope", "'a' in g", "5 in g", "None in g", "g.attrs['nope']", "g.attrs['q']",
                 "zarr.tree(g)", "zarr.tree(g, level=1)", "zarr.tree(5)", "zarr.tree(g['a'])", "zarr.Group.open(g.store)",
                 "zarr.Group.open(g.store_path)", "zarr.Group.open(MemoryStore())", "zarr.Group.from_store(MemoryStore())",
                 "zarr.Group.from_store(g.store)", "zarr.Group.from_store(g.store, overwrite=True)", "zarr.Group(5)",
                 "zarr.Group.from_store(MemoryStore(), attributes={'a': 1}, zarr_format=2)"):  # fmt: skip
        for form in FORMATS:
            yield Call(f"g = tree({form})", call)
            yield Call(f"g = tree({form}, 'x.zarr')", call)
    for call in ("g.create_array('x', shape=3, dtype='i4')", "g.create_group('x')", "g.attrs.put({'a': 1})", "g['x'] = np.arange(3)",
                 "g.__delitem__('a')", "g['a'][0] = 1", "g['a'].resize((1, 1))", "g['a'].append([[1, 2, 3, 4]])", "g.move('a', 'b')",
                 "g.require_group('sub')", "g.require_group('new')", "g.require_array('a', shape=(5, 4), dtype='i4')",
                 "g['a'].attrs['x'] = 1", "g['a'].update_attributes({'x': 1})", "g.update_attributes({'x': 1})", "g.read_only",
                 "zarr.consolidate_metadata(g.store)", "g.create_group('a', overwrite=True)", "g['a'].read_only"):  # fmt: skip
        for form, place in product(FORMATS, ("MemoryStore()", "'x.zarr'", "LocalStore('x.zarr')")):
            yield Call(f"g = zarr.open_group(tree({form}, {place}).store, mode='r')", call)


def table() -> list[Call]:
    """Return all calls, each once."""
    found = {call.name: call for part in (creating, opening, selecting, array_methods, grouping) for call in part()}
    return list(found.values())
