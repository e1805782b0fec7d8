"""Places, options, lengths and selections as words."""

from __future__ import annotations

import pytest

typer = pytest.importorskip("typer", reason="the command line needs the extra cli")

from zarr._cli.arguments import Place, parse_lengths, parse_pairs, parse_place, parse_selection  # noqa: E402


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("data.zarr", None, Place("data.zarr")),
        ("data.zarr", "/a/x/", Place("data.zarr", "a/x")),
        ("data.zarr::a/x", None, Place("data.zarr", "a/x")),
        ("data.zarr::/a/x", None, Place("data.zarr", "a/x")),
        ("data.zarr::", None, Place("data.zarr")),
        ("s3://bucket/data.zarr::a", None, Place("s3://bucket/data.zarr", "a")),
        ("simplecache::s3://bucket/data.zarr", None, Place("simplecache::s3://bucket/data.zarr")),
        ("simplecache::s3://bucket/data.zarr::a", None, Place("simplecache::s3://bucket/data.zarr", "a")),
        ("zip://x.zarr::file:///y.zip", "a", Place("zip://x.zarr::file:///y.zip", "a")),
    ],
)
def test_places(text: str, path: str | None, expected: Place) -> None:
    assert parse_place(text, path) == expected


def test_options_are_json_if_they_can_be() -> None:
    options = parse_place("s3://b", None, ["anon=true", "key=a=b", 'client_kwargs={"region_name": "x"}']).options
    assert options == {"anon": True, "key": "a=b", "client_kwargs": {"region_name": "x"}}
    assert parse_place("s3://b", None, []).options is None


def test_options_reach_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {}
    monkeypatch.setattr("zarr.open", lambda store, **parameters: given.update(parameters, store=store) or 1 / 0)
    from zarr._cli.cli import main

    assert main(["info", "s3://bucket/x::a", "--option", "anon=true"]) == 1
    assert given == {"store": "s3://bucket/x", "mode": "r", "path": "a", "storage_options": {"anon": True}}


def test_lengths() -> None:
    assert parse_lengths("100, 10", "--shape") == (100, 10)
    assert parse_lengths("5", "--shape") == (5,)
    assert parse_lengths("(5,)", "--shape") == (5,)
    assert parse_lengths("", "--shape") == ()
    for wrong in ("-1", "a", "1,,2", "1.5"):
        with pytest.raises(typer.BadParameter):
            parse_lengths(wrong, "--shape")


@pytest.mark.parametrize("wrong", ["x", "1:a", "1,[2,x]", "[1", "1;2", "[]", "[1,2]]"])
def test_wrong_selections(wrong: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_selection(wrong)


def test_wrong_words() -> None:
    for wrong in (["a"], ["=b"]):
        with pytest.raises(typer.BadParameter):
            parse_pairs(wrong, "--attr")
    with pytest.raises(typer.BadParameter):
        parse_place("::a")
    with pytest.raises(typer.BadParameter):
        parse_place("x::a", "b")
