"""TIFF, OME-TIFF and TIFF of ImageJ: files made by tifffile, and there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zarr
from tests.tools.contents_of_files import check_trip, leaves, plain, values
from zarr.tools.conversion.contents import ArrayContents, GroupContents

tifffile = pytest.importorskip("tifffile", reason="tifffile is not installed")
pytest.importorskip("tifffile.zarr", reason="this tifffile has no store for zarr 3")

from zarr.tools.conversion.images.tiff import read_tiff  # noqa: E402
from zarr.tools.conversion.images.tiff_references import references_of_tiff  # noqa: E402
from zarr.tools.conversion.images.tiff_writing import write_ome_tiff, write_tiff  # noqa: E402

RANDOM = np.random.default_rng(5)
STACK = RANDOM.integers(0, 60_000, (3, 70, 90), dtype="u2")
COLOURS = RANDOM.integers(0, 255, (50, 70, 3), dtype="u1")


def read(path: Path, lost: tuple[str, ...] = ()) -> Any:
    losses: list[str] = []
    contents = read_tiff(str(path), losses)
    assert tuple(losses) == lost
    return contents


def array_of(data: np.ndarray[Any, Any], **told: Any) -> ArrayContents:
    return ArrayContents(data.shape, data.dtype, data.__getitem__, **told)


CASES: dict[str, tuple[np.ndarray[Any, Any], dict[str, Any], tuple[int, ...]]] = {
    "tiles": (STACK, {"tile": (32, 48)}, (1, 32, 48)),
    "big-endian": (STACK, {"tile": (32, 48), "byteorder": ">"}, (1, 32, 48)),
    "big-endian-whole": (STACK, {"byteorder": ">"}, (1, 70, 90)),
    "zlib": (STACK, {"tile": (16, 64), "compression": "zlib", "predictor": True}, (1, 16, 64)),
    "strips": (STACK, {"rowsperstrip": 16, "compression": "zlib"}, (1, 70, 90)),
    "large-strips": (np.tile(STACK, (1, 10, 20))[:1], {"rowsperstrip": 291, "compression": "zlib"}, (1, 291, 1800)),
    "float": (STACK[0].astype("f4") / 7, {"tile": (16, 16)}, (16, 16)),
    "double": (STACK[:2].astype("f8"), {}, (1, 70, 90)),
    "half": (STACK[0].astype("f2"), {}, (70, 90)),
    "complex": (STACK[0] + 1j * STACK[1], {"tile": (16, 32)}, (16, 32)),
    "signed": (STACK[0].astype("i4") - 9000, {"bigtiff": True}, (70, 90)),
    "bits": (STACK > 30_000, {}, (1, 70, 90)),
}


@pytest.mark.parametrize("case", CASES)
def test_images(case: str, tmp_path: Path) -> None:
    data, options, chunks = CASES[case]
    tifffile.imwrite(tmp_path / "a.tif", data, photometric="minisblack", software="me", **options)
    contents = read(tmp_path / "a.tif")
    names = (None, "y", "x")[-data.ndim :]
    shown = plain(contents)
    assert shown[:4] == (data.shape, data.dtype.name, chunks, names)
    assert shown[5] == {"tiff": {"tags": {"Software": "me"}}}
    np.testing.assert_array_equal(values(contents), data)
    part = (slice(1, 2), slice(13, 50), slice(40, 71))[-data.ndim :] if len(data) > 1 or data.ndim == 2 else ()
    if part:
        np.testing.assert_array_equal(contents.read(part), data[part])
    lost = [] if case != "large-strips" else ["/: chunks of shape (1, 291, 1800): tiles are of shape (304, 512)"]
    again = check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, lost)
    if not lost:
        assert plain(again) == shown
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "b.tif"), data)


@pytest.mark.parametrize("compression", ["lzw", "zstd", "packbits", "jpeg"])
def test_compressions_of_imagecodecs(compression: str, tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    tifffile.imwrite(tmp_path / "a.tif", COLOURS, photometric="rgb", tile=(32, 32), compression=compression)
    contents = read(tmp_path / "a.tif")
    np.testing.assert_array_equal(values(contents), tifffile.imread(tmp_path / "a.tif"))


@pytest.mark.parametrize("planar", [False, True])
def test_colours(planar: bool, tmp_path: Path) -> None:
    data = np.moveaxis(COLOURS, -1, 0) if planar else COLOURS
    config = "separate" if planar else "contig"
    tifffile.imwrite(tmp_path / "a.tif", data, photometric="rgb", planarconfig=config, tile=(16, 32))
    contents = read(tmp_path / "a.tif")
    assert contents.dimension_names == (("s", "y", "x") if planar else ("y", "x", "s"))
    assert contents.chunks == ((1, 16, 32) if planar else (16, 32, 3))
    assert contents.attributes["tiff"]["photometric"] == "RGB"
    again = check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, [])
    assert plain(again) == plain(contents)
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        assert (file.pages[0].photometric.name, file.pages[0].planarconfig.name) == ("RGB", config.upper())


def test_palettes_and_tags(tmp_path: Path) -> None:
    colours = RANDOM.integers(0, 60_000, (3, 256), dtype="u2")
    extra = [(65000, 2, 0, "mine", True), (65001, 12, 2, (0.5, 1.5), True)]
    profile = b"\x00profile\xff"
    tifffile.imwrite(
        tmp_path / "a.tif", COLOURS[..., 0], photometric="palette", colormap=colours, extratags=extra,
        resolution=(300, 150), resolutionunit="INCH", iccprofile=profile, datetime="2020:01:02 03:04:05", metadata=None,
    )  # fmt: skip
    contents = read(tmp_path / "a.tif")
    told = contents.attributes["tiff"]
    assert told["photometric"] == "PALETTE"
    assert told["tags"]["ColorMap"] == colours.tolist()
    assert told["tags"]["InterColorProfile"] == {"base64": "AHByb2ZpbGX/"}
    assert (told["tags"]["65000"], told["tags"]["65001"]) == ("mine", [0.5, 1.5])
    again = check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, ["/: the tag 65001: it is not written"])
    assert isinstance(again, ArrayContents)
    del told["tags"]["65001"]
    assert again.attributes == contents.attributes


def test_colours_that_are_not_written_are_told(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", COLOURS, photometric="cielab", metadata=None)
    contents = read(tmp_path / "a.tif")
    check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, ["/: the colours CIELAB: rgb is written"])


def test_imagej(tmp_path: Path) -> None:
    told = {"axes": "TZYX", "spacing": 3.0, "unit": "um", "Labels": list("abcdef")}
    data = np.stack([STACK, STACK + 1])
    tifffile.imwrite(tmp_path / "a.tif", data, imagej=True, metadata=told, resolution=(2, 2))
    contents = read(tmp_path / "a.tif")
    assert contents.dimension_names == ("t", "z", "y", "x")
    assert contents.attributes["imagej"]["spacing"] == 3.0
    assert contents.attributes["imagej"]["Labels"] == list("abcdef")
    assert contents.attributes["tiff"]["tags"]["XResolution"] == [2, 1]
    again = check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, [])
    assert plain(again) == plain(contents)


def ome_told(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = read(path).attributes["ome"]
    return told


def test_ome_pyramids(tmp_path: Path) -> None:
    told = {
        "axes": "CYX", "Name": "cells", "Channel": {"Name": ["a", "b", "c"]},
        "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 0.5,
    }  # fmt: skip
    with tifffile.TiffWriter(tmp_path / "a.ome.tif") as writer:
        writer.write(STACK, subifds=2, tile=(32, 32), metadata=told, compression="zlib")
        for step in (2, 4):
            writer.write(STACK[:, ::step, ::step], subfiletype=1, tile=(16, 32), compression="zlib")
    contents = read(tmp_path / "a.ome.tif")
    for level, step in {"0": 1, "1": 2, "2": 4}.items():
        np.testing.assert_array_equal(values(contents.members[level]), STACK[:, ::step, ::step])
    assert [member.chunks for member in contents.members.values()] == [(1, 32, 32), (1, 16, 32), (1, 16, 23)]
    (image,) = contents.attributes["ome"]["multiscales"]
    assert image["name"] == "cells"
    assert [axis.get("unit") for axis in image["axes"]] == [None, "micrometer", "nanometer"]
    scales = [entry["coordinateTransformations"][0]["scale"] for entry in image["datasets"]]
    assert scales == [[1.0, 0.5, 0.25], [1.0, 1.0, 0.5], [1.0, 2.0, 1.0]]
    assert [channel["label"] for channel in contents.attributes["ome"]["omero"]["channels"]] == ["a", "b", "c"]
    assert contents.attributes["ome_xml"].startswith("<?xml")
    lost = ["/: OME-XML besides names and colours of channels, sizes and units: it is written anew"]
    check_trip(contents, tmp_path / "b.ome.tif", read_tiff, write_tiff, lost)
    assert ome_told(tmp_path / "b.ome.tif") == contents.attributes["ome"]


def channels_of(path: Path, **told: Any) -> list[dict[str, Any]]:
    tifffile.imwrite(path, STACK, metadata={"axes": "CYX", **told}, photometric="minisblack")
    found: list[dict[str, Any]] = ome_told(path)["omero"]["channels"]
    return found


def test_colours_of_channels(tmp_path: Path) -> None:
    path = tmp_path / "a.ome.tif"
    own = channels_of(path, Channel={"Color": [65535, -16776961, 16711935]}, SignificantBits=4)
    assert [channel["color"] for channel in own] == ["0000FF", "FF0000", "00FF00"]
    assert own[0]["window"] == {"min": 0, "max": 15, "start": 0, "end": 15}
    write_tiff(read(path), str(tmp_path / "b.ome.tif"), [])
    again = ome_told(tmp_path / "b.ome.tif")["omero"]["channels"]
    assert [channel["color"] for channel in again] == ["0000FF", "FF0000", "00FF00"]
    chosen = channels_of(path, Channel={"Name": ["a", "b", "c"]}, SignificantBits=2**70)
    assert len({channel["color"] for channel in chosen}) == 3
    assert chosen[0]["window"]["max"] == np.iinfo(STACK.dtype).max


def test_axes_of_ome_are_brought_into_its_order(tmp_path: Path) -> None:
    data = RANDOM.integers(0, 99, (2, 3, 4, 20, 30), dtype="u1")
    tifffile.imwrite(tmp_path / "a.ome.tif", data, metadata={"axes": "ZCTYX"})
    contents = read(tmp_path / "a.ome.tif")
    assert contents.members["0"].dimension_names == ("t", "c", "z", "y", "x")
    np.testing.assert_array_equal(values(contents.members["0"]), data.transpose(2, 1, 0, 3, 4))


def test_pyramids_of_colours_have_channels_first(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(COLOURS, subifds=1, tile=(16, 16), photometric="rgb")
        writer.write(COLOURS[::2, ::2], subfiletype=1, tile=(16, 16), photometric="rgb")
    contents = read(tmp_path / "a.tif")
    assert [member.chunks for member in contents.members.values()] == [(3, 16, 16), (3, 16, 16)]
    assert [axis["name"] for axis in contents.attributes["ome"]["multiscales"][0]["axes"]] == ["c", "y", "x"]
    np.testing.assert_array_equal(values(contents.members["1"]), np.moveaxis(COLOURS[::2, ::2], -1, 0))
    check_trip(contents, tmp_path / "b.ome.tif", read_tiff, write_tiff, [])
    with tifffile.TiffFile(tmp_path / "b.ome.tif") as file:
        np.testing.assert_array_equal(file.asarray(), COLOURS)
        assert len(file.series[0].levels) == 2


def test_axes_that_ome_does_not_have(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(STACK[:2], subifds=1, tile=(16, 16), metadata={"axes": "QYX"})
        writer.write(STACK[:2, ::2, ::2], subfiletype=1, tile=(16, 16))
    lost = (
        "/: the metadata of OME-Zarr: it has no image with the dimensions (None, 'y', 'x'); the convention "
        "multiscales of GeoZarr describes the levels"
    )
    contents = read(tmp_path / "a.tif", (lost,))
    assert contents.attributes["multiscales"]["layout"][1]["transform"]["scale"] == [1.0, 2.0, 2.0]
    losses: list[str] = []
    write_tiff(contents, str(tmp_path / "b.tif"), losses)
    assert losses == []
    assert plain(read(tmp_path / "b.tif", (lost,))) == plain(contents)


def test_several_images(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(STACK[:2], tile=(16, 16), metadata={"axes": "ZYX", "made by": "me"})
        writer.write(COLOURS, photometric="rgb")
    contents = read(tmp_path / "a.tif")
    assert contents.members["0"].attributes["made by"] == "me"
    assert contents.members["1"].shape == COLOURS.shape
    again = check_trip(contents, tmp_path / "b.tif", read_tiff, write_tiff, [])
    assert plain(again) == plain(contents)


def test_hierarchies_come_back(tmp_path: Path) -> None:
    inner = GroupContents(
        {"n": 1}, {"b": array_of(STACK, attributes={"k": [1, "ä"]}, dimension_names=("time", "y", "x"))}
    )
    whole = GroupContents({"title": "x"}, {"a": array_of(COLOURS[..., 0], chunks=(16, 16)), "g": inner})
    again = check_trip(whole, tmp_path / "a.tif", read_tiff, write_tiff, [])
    assert isinstance(again, GroupContents)
    assert again.attributes == {"title": "x"}
    assert again.members["g"].attributes == {"n": 1}
    assert leaves(again)["g/b"].attributes["k"] == [1, "ä"]
    assert leaves(again)["g/b"].dimension_names == ("time", "y", "x")
    alone = check_trip(GroupContents({"n": 1}, {"x": inner}), tmp_path / "b.tif", read_tiff, write_tiff, [])
    assert list(leaves(alone)) == ["x/b"]


def test_several_images_of_ome(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.ome.tif") as writer:
        writer.write(STACK, metadata={"axes": "CYX", "Name": "one"})
        writer.write(COLOURS[..., 0], metadata={"axes": "YX", "Name": "two"})
    contents = read(tmp_path / "a.ome.tif")
    assert contents.attributes["ome"] == {"version": "0.5", "bioformats2raw.layout": 3}
    assert [m.attributes["ome"]["multiscales"][0]["name"] for m in contents.members.values()] == ["one", "two"]
    again = check_trip(contents, tmp_path / "b.ome.tif", read_tiff, write_tiff, [])
    assert plain(again)[1] == plain(contents)[1]


def test_tags_that_differ_between_pages_are_told(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        for number in range(3):
            writer.write(STACK[number], metadata=None, software=f"v{number // 2}")
    lost = ("/: tags of 1 pages that differ from those of the first page",)
    assert read(tmp_path / "a.tif", lost).shape == STACK.shape


def test_what_ome_tiff_does_not_carry_is_told(tmp_path: Path) -> None:
    array = array_of(STACK[None], attributes={"k": 1}, chunks=(1, 2, 70, 90), fill_value=7, shards=(1, 2, 70, 90))
    losses: list[str] = []
    write_ome_tiff(array, str(tmp_path / "a.ome.tif"), losses)
    assert losses == [
        "/: the attribute 'k'",
        "/: the fill value 7",
        "/: shards of shape (1, 2, 70, 90)",
        "/: chunks of shape (1, 2, 70, 90): tiles are of shape (80, 96)",
    ]
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.ome.tif"), STACK)


NAMES = ["t", "c", "z", "y", "x", "s", "time", "lat", None]
TYPES = ["u1", "u2", "i4", "u8", "f2", "f4", ">f8", "c8", "bool"]


@pytest.mark.parametrize("seed", range(40))
def test_any_array_comes_back(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    ndim = int(random.integers(2, 6))
    shape = (*map(int, random.integers(1, 4, ndim - 2)), *map(int, random.integers(2, 50, 2)))
    data = (random.random(shape) * 100).astype(random.choice(TYPES))
    named = tuple(np.array(NAMES, dtype=object)[random.permutation(len(NAMES))[:ndim]]) if seed % 3 else None
    chunks = tuple(int(random.integers(1, length + 1)) for length in shape)
    contents = array_of(data, chunks=chunks, dimension_names=named, attributes={"seed": seed, "ö": [1.5, None]})
    write_tiff(contents, str(tmp_path / "a.tif"), [])
    again = read(tmp_path / "a.tif")
    np.testing.assert_array_equal(values(again), data)
    assert again.dtype == data.dtype.newbyteorder("=")
    assert again.dimension_names == (named if named and any(named) else None)
    assert {name: again.attributes[name] for name in contents.attributes} == contents.attributes


def test_axes_that_ome_tiff_does_not_have_are_told(tmp_path: Path) -> None:
    losses: list[str] = []
    array = array_of(STACK, dimension_names=("y", "time", "c"))
    write_ome_tiff(array, str(tmp_path / "a.ome.tif"), losses)
    assert losses == ["/: the dimensions ('y', 'time', 'c'): they are called ZYX"]
    np.testing.assert_array_equal(values(read(tmp_path / "a.ome.tif").members["0"]), STACK)


def test_data_types_of_zarr(tmp_path: Path) -> None:
    array = ArrayContents(STACK.shape, zarr.dtype.UInt16(), STACK.__getitem__)
    np.testing.assert_array_equal(values(check_trip(array, tmp_path / "a.tif", read_tiff, write_tiff, [])), STACK)


def test_pages_of_one_row_or_column(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", STACK[:, :1], photometric="minisblack", tile=(16, 32))
    np.testing.assert_array_equal(values(read(tmp_path / "a.tif")), STACK[:, :1])


def test_what_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "a.tif")
    with pytest.raises(TypeError, match="no data type datetime64"):
        write_tiff(array_of(np.zeros((2, 3), "M8[s]")), path, [])
    with pytest.raises(TypeError, match="OME-TIFF has no data type int64"):
        write_ome_tiff(array_of(np.zeros((2, 3), "i8")), path, [])
    with pytest.raises(ValueError, match="two axes or more"):
        write_tiff(array_of(np.zeros(3)), path, [])
    with pytest.raises(ValueError, match="one column"):
        write_tiff(array_of(np.zeros((3, 1))), path, [])
    with pytest.raises(ValueError, match="no array"):
        write_tiff(GroupContents(), path, [])
    (tmp_path / "b.tif").write_bytes(b"II*\0 no more")
    with pytest.raises(ValueError, match=r"b\.tif"):
        read_tiff(str(tmp_path / "b.tif"), [])


def test_big_endian_arrays(tmp_path: Path) -> None:
    write_tiff(array_of(STACK.astype(">u2")), str(tmp_path / "a.tif"), [])
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), STACK)


def test_pages_are_read_by_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zarr.tools.conversion.images.tiff_writing as writing

    monkeypatch.setattr(writing, "BLOCK", 20_000)
    sizes = []

    def take(region: tuple[slice, ...]) -> Any:
        part = STACK[region]
        sizes.append(part.nbytes)
        return part

    for chunks in ((2, 16, 16), (1, 70, 90), (3, 20, 20)):
        write_tiff(ArrayContents(STACK.shape, STACK.dtype, take, chunks=chunks), str(tmp_path / "a.tif"), [])
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "a.tif"), STACK)
    assert max(sizes) <= 20_000


REFERRED: dict[str, tuple[np.ndarray[Any, Any], dict[str, Any]]] = {
    "tiles": (STACK, {"tile": (32, 48)}),
    "big-endian": (STACK, {"tile": (32, 48), "byteorder": ">", "compression": "zlib"}),
    "deflate": (STACK[0].astype("f8"), {"tile": (16, 16), "compression": "adobe_deflate"}),
    "strips": (STACK, {"rowsperstrip": 10, "compression": "zlib"}),
    "whole-pages": (STACK, {}),
    "colours": (COLOURS, {"photometric": "rgb", "tile": (16, 16)}),
    "imagej": (STACK, {"imagej": True}),
}


def open_references(path: Path) -> Any:
    losses: list[str] = []
    table = references_of_tiff(str(path), path.name, losses)
    assert losses == []
    (path.parent / "table.json").write_text(json.dumps(table))
    return zarr.open(path.parent / "table.json", mode="r")


@pytest.mark.parametrize("case", REFERRED)
def test_references(case: str, tmp_path: Path) -> None:
    data, options = REFERRED[case]
    tifffile.imwrite(tmp_path / "a.tif", data, **{"photometric": "minisblack"} | options)
    array = open_references(tmp_path / "a.tif")
    np.testing.assert_array_equal(array[...], data)
    np.testing.assert_array_equal(array[..., 3:40:7, 1], data[..., 3:40:7, 1])
    assert array.metadata.dimension_names == read(tmp_path / "a.tif").dimension_names


def test_references_to_zstd(tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs", reason="imagecodecs is not installed")
    tifffile.imwrite(tmp_path / "a.tif", STACK, photometric="minisblack", tile=(32, 32), compression="zstd")
    np.testing.assert_array_equal(open_references(tmp_path / "a.tif")[...], STACK)


def test_references_to_pyramids(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(COLOURS, subifds=1, tile=(16, 16), photometric="rgb", compression="zlib")
        writer.write(COLOURS[::2, ::2], subfiletype=1, tile=(16, 16), photometric="rgb", compression="zlib")
    group = open_references(tmp_path / "a.tif")
    assert group.attrs["ome"]["multiscales"][0]["axes"][0]["name"] == "c"
    np.testing.assert_array_equal(group["0"][...], np.moveaxis(COLOURS, -1, 0))
    np.testing.assert_array_equal(group["1"][...], np.moveaxis(COLOURS[::2, ::2], -1, 0))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"compression": "packbits"}, "compression PACKBITS"),
        ({"compression": "zlib", "predictor": True}, "predictor HORIZONTAL"),
        ({"rowsperstrip": 16}, "incomplete chunks"),
    ],
)
def test_references_that_are_refused(options: dict[str, Any], told: str, tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "a.tif", STACK[0], photometric="minisblack", **options)
    with pytest.raises(ValueError, match=rf"{told}.*without virtual=True"):
        references_of_tiff(str(tmp_path / "a.tif"), "a.tif", [])


def test_images_that_cannot_be_referred_to_are_told(tmp_path: Path) -> None:
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        writer.write(STACK[0], tile=(32, 32), compression="zlib", metadata=None)
        writer.write(STACK[0] > 9, metadata=None)
    losses: list[str] = []
    table = references_of_tiff(str(tmp_path / "a.tif"), "a.tif", losses)
    assert [text.partition(":")[0] for text in losses] == ["/1"]
    store = zarr.storage.ReferenceStore(table, folder=str(tmp_path))
    np.testing.assert_array_equal(zarr.open_group(store, mode="r")["0"][...], STACK[0])  # type: ignore[index]


def test_files_on_the_earth_are_read_as_such(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    place = rasterio.Affine(1.0, 0.0, 5.0, 0.0, -1.0, 9.0)
    options = {"driver": "GTiff", "dtype": "uint8", "count": 1, "height": 50, "width": 70, "crs": "EPSG:4326"}
    with rasterio.open(tmp_path / "a.tif", "w", transform=place, **options) as file:
        file.write(COLOURS[None, ..., 0])
    assert read(tmp_path / "a.tif").attributes["proj:code"] == "EPSG:4326"


@pytest.mark.filterwarnings("ignore:Dataset has no geotransform")
def test_references_to_files_on_the_earth(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed")
    data = RANDOM.integers(0, 99, (3, 300, 280), dtype="u1")
    options = {"dtype": "uint8", "count": 3, "height": 300, "width": 280, "crs": "EPSG:3857", "blocksize": 128}
    place = rasterio.Affine(1.0, 0.0, 5.0, 0.0, -1.0, 9.0)
    with rasterio.open(tmp_path / "a.tif", "w", driver="COG", compress="deflate", transform=place, **options) as file:
        file.write(data)
    group = open_references(tmp_path / "a.tif")
    np.testing.assert_array_equal(group["0"][...], data)
    assert group.attrs["spatial:transform"] == list(place)[:6]
    with rasterio.open(tmp_path / "a.tif", overview_level=0) as file:
        np.testing.assert_array_equal(group["1"][...], file.read())
