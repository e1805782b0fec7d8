"""A copy that gets a member says, byte for byte, what it would say had it been written as a whole."""

from __future__ import annotations

import json
import random
import warnings
from typing import Any

import pytest

import zarr
from zarr.groups import opening
from zarr.metadata import copies
from zarr.metadata.consolidated import tree_order
from zarr.metadata.copies import find_copy, load_without_copy, write_copy
from zarr.metadata.documents import load_document
from zarr.storage import LocalStore, MemoryStore

NAMES = ["a", "b", "g", "g/a", "ü", "a b", 'q"uote', 'colon": {', "back\\slash", "metadata", "\x7f", "x" * 80, "g/b/c"]
VALUES: list[Any] = [
    {},
    {"n": 1},
    {"text": '}\n      },\n      "a": {'},
    {"deep": [[{"metadata": {}}]]},
    {"é": None},
    None,
]
HEAD = {"attributes": {"consolidated_metadata": {"metadata": {}}}, "zarr_format": 3}


def written(members: dict[str, Any], indent: int | None) -> bytes:
    """The whole text, written anew; by the default of ``json_indent``, each member is one line."""
    if not indent:
        return json.dumps(whole(members), indent=indent).encode()
    order = sorted(members, key=tree_order)
    texts = {name: json.dumps(members[name], indent=None if indent == 2 else indent).encode() for name in order}
    return write_copy(whole({}), texts, indent)


def whole(members: dict[str, Any]) -> dict[str, Any]:
    ordered = {name: members[name] for name in sorted(members, key=tree_order)}
    return {**HEAD, "consolidated_metadata": {"kind": "inline", "metadata": ordered}, "node_type": "group"}


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 4])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "names", [NAMES, [name for name in NAMES if name.isalpha() and name.isascii()] + ["g/a", "g/b/c"]]
)
def test_members_are_put_in_their_places(seed: int, indent: int | None, names: list[str]) -> None:
    """Several at once, new, other and gone: the text is that of the whole written anew."""
    choose = random.Random(seed)
    members: dict[str, Any] = {}
    raw = written(members, indent)
    for _ in range(15):
        changes = {choose.choice(names): choose.choice(VALUES) for _ in range(choose.randint(1, 4))}
        copy = find_copy(raw, "zarr.json", "zarr.json")
        assert copy is not None
        assert [name for name in names if name in copy] == [name for name in names if name in members]
        assert sorted(copy.below("g")) == sorted(name for name in members if name.startswith("g/"))
        members = {name: value for name, value in {**members, **changes}.items() if value is not None}
        made = copy.edited(changes)
        raw = made.raw
        assert raw == written(members, indent)
        assert indent == 2 or raw == json.dumps(whole(members), indent=indent).encode()
        assert list(made) == sorted(members, key=tree_order)
        copies._kept.clear()  # what is located anew is what was derived
        again = find_copy(raw, "zarr.json", "zarr.json")
        assert again is not None
        assert (again.opening, again.closing, again.places.tolist()) == (
            made.opening,
            made.closing,
            made.places.tolist(),
        )
    assert load_without_copy(raw, "zarr.json") == {**HEAD, "node_type": "group"}


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 3, "\t"])
def test_a_change_keeps_the_layout_of_other_writers(indent: Any) -> None:
    members = {name: {"n": [number, {"m": {}}]} for number, name in enumerate(["a", "b", "a/b", "c/b"])}
    copy = find_copy(json.dumps(whole(members), indent=indent).encode(), "zarr.json", "zarr.json")
    assert copy is not None
    for changes in ({"c": {"n": [1, {}]}, "b": None}, {"d": {"n": {"m": 3}}, "a": {"x": [1]}}):
        members = {name: value for name, value in {**members, **changes}.items() if value is not None}
        copy = copy.edited(changes)
        expected = json.dumps(whole(members), indent=indent).encode()
        assert copy.raw == expected if indent != "\t" else json.loads(copy.raw) == json.loads(expected)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"metadata":{"a":{},"a":{"n":1}}}',  # a name twice: the last one counts
        b'{"metadata":{"x":{}},"metadata" : { "a":{"n":1} } }',
        b'\xef\xbb\xbf{"metadata": {"a": {"n": 1}}}',
        b'{"metadata":{\n"a" :\t{"n":1}\r\n},"zarr_consolidated_format":1}\n',
        b'{"metad\\u0061ta": {"a": {"n": 1}}}',
    ],
)
def test_texts_of_other_writers(raw: bytes) -> None:
    copy = find_copy(raw, ".zmetadata", ".zmetadata")
    assert copy is not None
    made = json.loads(copy.edited({"b/.zarray": {"k": [1]}}).raw)
    assert made["metadata"] == {"a": {"n": 1}, "b/.zarray": {"k": [1]}}


def test_texts_without_a_copy_and_damaged_ones() -> None:
    assert find_copy(b'{"metadata": 5}', ".zmetadata", ".zmetadata") is None
    assert find_copy(b"{}", "zarr.json", "zarr.json") is None
    for damaged in (b"", b"{", b'{"metadata": {"a": {}}', b'{"metadata": {}} x', b"[]"):
        with pytest.raises(ValueError, match="document") if damaged != b"[]" else pytest.raises(TypeError):
            find_copy(damaged, ".zmetadata", ".zmetadata")


def test_a_change_below_a_group_parses_no_copy(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path)):
        root = zarr.create_group(store)
        root.create_group("g").create_array("x", shape=(4,), dtype="int8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            root = zarr.consolidate_metadata(store)
        with monkeypatch.context() as watched:
            watched.setattr(opening, "load_with_copy", load_document)  # a group that is read parses its copy
            watched.setattr(copies, "load_document", lambda *_: pytest.fail("the copy was parsed"))
            copies._kept.clear()  # as in a new process
            root.create_array("g/a", shape=(4,), dtype="int8")
            root.create_array("b", shape=(4,), dtype="int8").attrs["k"] = 1
            root["g/x"].resize((8,))
            names = [f"h/{number}" for number in range(20)]
            assert len(list(zarr.create_hierarchy(store=store, nodes=dict.fromkeys(names, root["b"].metadata)))) == 21
            assert list(root["h"]) == sorted(name[2:] for name in names)
            del root["h"]
            assert "h" not in root
        stored = json.loads(store.get_sync("zarr.json").to_bytes())["consolidated_metadata"]["metadata"]
        assert list(stored) == ["b", "g", "g/a", "g/x"]
        assert stored["b"]["attributes"] == {"k": 1}
        assert stored["g/x"] == json.loads(store.get_sync("g/x/zarr.json").to_bytes())


@pytest.mark.parametrize("name", ["a", "ü"])
def test_names_are_brought_into_order_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers of format 2 list the documents of a node in an order of their own."""
    members = {f"{name}{number}/{part}": {"n": number} for number in range(300) for part in (".zgroup", ".zattrs")}
    copy = find_copy(json.dumps({"metadata": members}).encode(), ".zmetadata", ".zmetadata")
    assert copy is not None
    copy = copy.edited({f"{name}7/.zattrs": {"n": 0}})
    assert list(copy) == sorted(members, key=tree_order)
    monkeypatch.setattr(copies, "tree_order", counted := Counted(tree_order))
    copy = copy.edited({f"{name}7/.zattrs": {"n": 1}, "new/.zgroup": {}, f"{name}8/.zgroup": None})
    assert 0 < counted.calls < 100
    expected = {**members, f"{name}7/.zattrs": {"n": 1}, "new/.zgroup": {}}
    assert json.loads(copy.raw) == {"metadata": {key: expected[key] for key in expected if key != f"{name}8/.zgroup"}}
    assert list(copy) == sorted(json.loads(copy.raw)["metadata"], key=tree_order)


class Counted:
    """A function that counts its calls."""

    def __init__(self, call: Any) -> None:
        self.call, self.calls = call, 0

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        return self.call(*args)


def test_what_another_process_has_stored_stays() -> None:
    store = MemoryStore()
    root = zarr.create_group(store)
    root.create_array("a", shape=(4,), dtype="int8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.consolidate_metadata(store)
    document = json.loads(store.get_sync("zarr.json").to_bytes())
    document["consolidated_metadata"]["metadata"]["foreign"] = {"zarr_format": 3, "node_type": "group"}
    store.set_sync("zarr.json", zarr.buffer.default_buffer_prototype().buffer.from_bytes(json.dumps(document).encode()))
    root.create_array("b", shape=(4,), dtype="int8")
    stored = json.loads(store.get_sync("zarr.json").to_bytes())["consolidated_metadata"]["metadata"]
    assert list(stored) == ["a", "b", "foreign"]
