"""Parquet and csv: files made by pyarrow and by hand, and there and back."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tools.contents_of_files import check_trip, plain, values
from zarr.dtype import VariableLengthUTF8
from zarr.tools.conversion.contents import ArrayContents, GroupContents

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="this pyarrow has no parquet")

from zarr.tools.conversion.tables import csv_scan  # noqa: E402
from zarr.tools.conversion.tables.columns import read_csv, read_parquet  # noqa: E402
from zarr.tools.conversion.tables.writing import write_csv, write_parquet  # noqa: E402

DAY, MOMENT = datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 2, 3, 4, 5, 678)
COLUMNS: dict[str, Any] = {
    "bool": pa.array([True, False, True]),
    "i1": pa.array([-1, 2, 3], pa.int8()),
    "u8": pa.array([1, 2, 2**64 - 1], pa.uint64()),
    "f2": pa.array(np.array([1, 2.5, -3], "f2")),
    "f8": pa.array([1.5, float("nan"), float("inf")]),
    "text": pa.array(["a", "", "üß"]),
    "large text": pa.array(["a", "b", "c"], pa.large_string()),
    "bytes": pa.array([b"a", b"\0\xff", b""], pa.large_binary()),
    "category": pa.array(["x", "y", "x"]).dictionary_encode(),
    "money": pa.array(
        [decimal.Decimal("1.50"), decimal.Decimal("-2.25"), decimal.Decimal("0.00")], pa.decimal128(9, 2)
    ),
    "day": pa.array([DAY, DAY, DAY]),
    "moment": pa.array([MOMENT] * 3, pa.timestamp("us")),
    "zone": pa.array([MOMENT] * 3, pa.timestamp("ns", "Europe/Paris")),
    "span": pa.array([1, 2, 3], pa.duration("ms")),
    "clock": pa.array([datetime.time(1, 2, 3)] * 3, pa.time64("us")),
    "second": pa.array([datetime.time(1, 2, 3)] * 3, pa.time32("s")),
}
NULLS: dict[str, Any] = {
    "bool": pa.array([True, None, False]),
    "i4": pa.array([1, None, 3], pa.int32()),
    "text": pa.array(["a", None, ""]),
    "category": pa.array(["x", None, "x"]).dictionary_encode(),
    "moment": pa.array([MOMENT, None, MOMENT], pa.timestamp("us")),
    "day": pa.array([DAY, None, DAY]),
    "span": pa.array([1, None, 3], pa.duration("s")),
}


def read(path: Path, lost: tuple[str, ...] = ()) -> Any:
    losses: list[str] = []
    contents = (read_csv if path.suffix in (".csv", ".tsv") else read_parquet)(str(path), losses)
    assert tuple(losses) == lost
    return contents


def test_types_of_columns(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "a.parquet")
    contents = read(tmp_path / "a.parquet")
    assert list(contents.members) == contents.attributes["columns"] == list(COLUMNS)
    assert {member.dimension_names for member in contents.members.values()} == {("row",)}
    kinds = {name: str(member.dtype) for name, member in contents.members.items()}
    assert (kinds["u8"], kinds["moment"], kinds["day"], kinds["span"]) == (
        "uint64", "datetime64[us]", "datetime64[D]", "timedelta64[ms]",
    )  # fmt: skip
    assert contents.members["zone"].attributes == {"timezone": "Europe/Paris"}
    assert values(contents.members["money"]).tolist() == ["1.50", "-2.25", "0.00"]
    assert values(contents.members["day"]).tolist() == [DAY] * 3
    assert values(contents.members["moment"]).tolist() == [MOMENT] * 3
    np.testing.assert_array_equal(values(contents.members["f8"]), [1.5, np.nan, np.inf])
    again = check_trip(contents, tmp_path / "b.parquet", read_parquet, write_parquet, [])
    assert plain(again) == plain(contents)
    back = pq.read_table(tmp_path / "b.parquet")
    first = pq.read_table(tmp_path / "a.parquet")
    for name in set(COLUMNS) - {"large text"}:
        assert back[name].type == first[name].type, name
    assert str(back.drop("f8").to_pydict()) == str(first.drop("f8").to_pydict())


def test_big_endian_arrays(tmp_path: Path) -> None:
    members = {"x": array_of(np.arange(5, dtype=">i4")), "t": array_of(np.arange(5).astype(">M8[us]"))}
    check_trip(GroupContents({}, members), tmp_path / "a.parquet", read_parquet, write_parquet, [])


def test_seconds_become_milliseconds(tmp_path: Path) -> None:
    times = array_of(np.array(["2020-01-01T00:00:01", "NaT"], "M8[s]"))
    lost = ["/t: the data type datetime64[s]: parquet has milliseconds"]
    again: Any = check_trip(GroupContents({}, {"t": times}), tmp_path / "a.parquet", read_parquet, write_parquet, lost)
    assert str(again.members["t"].dtype) == "datetime64[ms]"


def test_nulls(tmp_path: Path) -> None:
    table = pa.table(NULLS)
    pq.write_table(table, tmp_path / "a.parquet")
    contents = read(tmp_path / "a.parquet")
    masks = [name for name, member in contents.members.items() if "valid_of" in member.attributes]
    assert masks == ["bool_valid", "i4_valid", "text_valid", "category_valid"]
    assert values(contents.members["i4_valid"]).tolist() == [True, False, True]
    assert np.isnat(values(contents.members["moment"])).tolist() == [False, True, False]
    check_trip(contents, tmp_path / "b.parquet", read_parquet, write_parquet, [])
    back = pq.read_table(tmp_path / "b.parquet")
    assert back.column_names == list(NULLS)
    assert back.to_pydict() == table.to_pydict()


def test_nulls_of_floats_are_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, None]}), tmp_path / "a.parquet")
    contents = read(tmp_path / "a.parquet", ("/x: nulls: they are NaN, as other values of it may be",))
    assert np.isnan(values(contents.members["x"])).tolist() == [False, True]
    write_parquet(contents, str(tmp_path / "b.parquet"), [])
    assert pq.read_table(tmp_path / "b.parquet").to_pydict() == {"x": [1.0, None]}


def test_groups_of_rows_are_chunks(tmp_path: Path) -> None:
    data = np.arange(1000)
    pq.write_table(pa.table({"x": data, "y": data.astype(str)}), tmp_path / "a.parquet", row_group_size=300)
    contents = read(tmp_path / "a.parquet")
    column = contents.members["x"]
    assert column.chunks == (300,)
    for start, stop in ((0, 300), (299, 301), (250, 1000), (900, 1000), (5, 6)):
        np.testing.assert_array_equal(column.read((slice(start, stop),)), data[start:stop])
        assert contents.members["y"].read((slice(start, stop),)).tolist() == data[start:stop].astype(str).tolist()


def test_names_and_metadata(tmp_path: Path) -> None:
    told = {"a": pa.array([1]), "a/b": pa.array([2]), "": pa.array([3]), "a_b": pa.array([4])}
    pq.write_table(pa.table(told).replace_schema_metadata({"k": "v"}), tmp_path / "a.parquet")
    contents = read(tmp_path / "a.parquet")
    assert contents.attributes == {"columns": ["a", "a_b_2", "column_2", "a_b"], "arrow_metadata": {"k": "v"}}
    again = check_trip(contents, tmp_path / "b.parquet", read_parquet, write_parquet, [])
    assert plain(again) == plain(contents)
    assert pq.read_table(tmp_path / "b.parquet").column_names == list(told)


def test_what_is_lost(tmp_path: Path) -> None:
    nested = pa.array([[1], [2, 3]])
    ordered = pa.DictionaryArray.from_arrays([0, 1], ["a", "b"], ordered=True)
    pq.write_table(pa.table({"n": nested, "o": ordered, "z": pa.nulls(2)}), tmp_path / "a.parquet")
    lost = (
        "/n: the column of type list<element: int64>: Zarr has no such data type",
        "/o: the order of its categories",
        "/z: the column of type null: Zarr has no such data type",
    )
    assert read(tmp_path / "a.parquet", lost).attributes["columns"] == ["o"]


def array_of(data: np.ndarray[Any, Any], **told: Any) -> ArrayContents:
    return ArrayContents(data.shape, data.dtype, data.__getitem__, **told)


def test_arrays_of_zarr_come_back(tmp_path: Path) -> None:
    names: dict[str, Any] = {"dimension_names": ("time",)}
    members = {
        "x": array_of(np.arange(5), attributes={"units": "K"}, **names),
        "text": ArrayContents((5,), VariableLengthUTF8(), np.array(list("abcde"), dtype=object).__getitem__, **names),
    }
    contents = GroupContents({"title": "t"}, members)
    again = check_trip(contents, tmp_path / "a.parquet", read_parquet, write_parquet, [])
    assert isinstance(again, GroupContents)
    assert again.attributes == {"title": "t", "columns": ["x", "text"]}
    assert plain(again.members["x"])[3:] == (("time",), "None", {"units": "K"})


def test_what_a_table_does_not_carry(tmp_path: Path) -> None:
    members: dict[str, Any] = {
        "x": array_of(np.arange(3), attributes={"units": "K"}, fill_value=9, shards=(3,)),
        "m": array_of(np.zeros((3, 2))),
        "c": array_of(np.zeros(3, "c8")),
        "u": array_of(np.array(["a", "bb", ""])),
        "h": array_of(np.zeros(3, "M8[h]")),
        "d": array_of(np.zeros(3, "m8[s]")),
        "b": array_of(np.array([b"a", b"\xff", b""], dtype=object)),
        "g": GroupContents(),
    }
    lost: list[str] = []
    write_csv(GroupContents({"title": "t"}, members), str(tmp_path / "a.csv"), lost)
    assert lost == [
        "/x: shards of shape (3,)",
        "/x: the fill value 9",
        "/m: it is no array of one dimension, and no column",
        "/c: the data type complex64: Arrow has none such",
        "/u: the data type <U2: texts have any length",
        "/h: the data type datetime64[h]: Arrow has none such",
        "/g: it is no array of one dimension, and no column",
        "/b: csv has text and no bytes",
        "/: the attribute 'title'",
        "/x: the attribute 'units'",
        "/d: its unit s: durations become whole numbers",
    ]
    assert list(read(tmp_path / "a.csv").members) == ["x", "u", "d"]
    with pytest.raises(ValueError, match="columns of one length"):
        write_parquet(GroupContents({}, {"a": array_of(np.arange(2)), "b": array_of(np.arange(3))}), "x", [])
    with pytest.raises(ValueError, match=r"there is none that can be one .no array.: name a part"):
        write_parquet(GroupContents(), "x", [])


def test_csv_there_and_back(tmp_path: Path) -> None:
    names = ["bool", "i1", "f8", "text", "day", "moment"]
    data = pa.table({name: COLUMNS[name] for name in names})
    pq.write_table(data, tmp_path / "a.parquet")
    for suffix in ("csv", "tsv"):
        path = tmp_path / f"a.{suffix}"
        write_csv(read(tmp_path / "a.parquet"), str(path), [])
        contents = read(path)
        assert contents.attributes["columns"] == names
        for name in names:
            expected = values(read(tmp_path / "a.parquet").members[name])
            np.testing.assert_array_equal(values(contents.members[name]), expected)


CSV = (
    'id,text,"n, m",when,long,mixed,none\r\n'
    '1,"a\nb",1.5,2020-01-01,12345678901234567890,1,\r\n\r\n'
    "2,,,2020-01-02 03:04:05,1,x,\r\n"
    ",NA,nan,,2,2.5,\r\n"
)


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_values_of_csv(bom: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(bom + CSV.encode())
    contents = read(tmp_path / "a.csv")
    found = {name: values(member).tolist() for name, member in contents.members.items()}
    assert found["id"] == [1, 2, 0]
    assert found["id_valid"] == [True, True, False]
    assert found["text"] == ["a\nb", "", "NA"]
    assert np.isnan(found["n, m"]).tolist() == [False, True, True]
    assert np.isnat(values(contents.members["when"])).tolist() == [False, False, True]
    assert found["long"] == ["12345678901234567890", "1", "2"]
    assert found["mixed"] == ["1", "x", "2.5"]
    assert found["none"] == ["", "", ""]


def test_types_follow_from_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_scan, "EVERY", 10)
    monkeypatch.setattr(csv_scan, "BLOCK", 37)
    rows = [(n, n if n < 95 else n + 0.5, 2**60 + n if n < 50 else 0.5, "x" if n == 77 else n) for n in range(101)]
    lines = ["int;float;exact;text", *(";".join(map(str, row)) for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    contents = read(tmp_path / "a.csv")
    assert contents.members["int"].chunks == (10,)
    assert values(contents.members["int"]).tolist() == list(range(101))
    assert values(contents.members["float"]).tolist() == [row[1] for row in rows]
    assert values(contents.members["exact"]).tolist() == [str(row[2]) for row in rows]
    assert values(contents.members["text"]).tolist() == [str(row[3]) for row in rows]
    for start, stop in ((0, 10), (9, 11), (35, 101), (100, 101)):
        assert contents.members["int"].read((slice(start, stop),)).tolist() == list(range(start, stop))


def test_what_is_refused(tmp_path: Path) -> None:
    for name, text, told in (
        ("empty", b"", "empty"),
        ("bytes", b"a,b\xff\n1,2\n", "UTF-8"),
        ("ragged", b"a,b\n1,2\n3\n", "Expected 2 columns"),
        ("quotes", b'a,b\n1,x"\n2,y\n3,z"\n', "quotes"),
    ):
        (tmp_path / f"{name}.csv").write_bytes(text)
        with pytest.raises(ValueError, match=told):
            read_csv(str(tmp_path / f"{name}.csv"), [])
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(ValueError, match=r"a\.parquet"):
        read_parquet(str(tmp_path / "a.parquet"), [])


def test_tables_without_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").members["x"].shape == (0,)
    (tmp_path / "a.csv").write_text("a,b\n")
    assert read(tmp_path / "a.csv").members["b"].shape == (0,)


def test_numbers_with_leading_zeros_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_scan, "EVERY", 2)
    path = tmp_path / "a.csv"
    path.write_text('zip,size,zero,day,signed\n12,0.5,0,2020-01-05,-1\n13,10,1,2020-02-05,2\n"007",20,0,2020-03-05,-07\n')
    found = {name: column.read((slice(0, 3),)).tolist() for name, column in read_csv(path, []).members.items()}
    day = [datetime.date(2020, month, 5) for month in (1, 2, 3)]
    assert found == {
        "zip": ["12", "13", "007"], "size": [0.5, 10.0, 20.0], "zero": [0, 1, 0], "day": day,
        "signed": ["-1", "2", "-07"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "mask"),
    [
        (np.array(["2020-01-01", "NaT", "2020-01-03"], "M8[D]"), None), (np.array([1, 0, 3]), np.array([1, 0, 1], "?")),
        (np.array([1, "NaT", 3], "m8[s]"), None), (np.array(["a", "", "c"], "T"), np.array([1, 0, 1], "?")),
    ],
    ids=["dates", "numbers", "durations", "texts"],
)  # fmt: skip
def test_a_null_alone_in_its_row(data: Any, mask: Any, tmp_path: Path) -> None:
    members: dict[str, Any] = {"x": ArrayContents(data.shape, data.dtype, data.__getitem__)}
    if mask is not None:
        members["v"] = ArrayContents(mask.shape, mask.dtype, mask.__getitem__, attributes={"valid_of": "x"})
    write_csv(GroupContents({}, members), tmp_path / "a.csv", [])
    found = read_csv(tmp_path / "a.csv", [])
    values = found.members["x"].read((slice(0, 3),))
    assert values.shape == (3,)
    kept = np.array([1, 0, 1], "?")
    np.testing.assert_array_equal(values[kept], data[kept].astype(values.dtype))
