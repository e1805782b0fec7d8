"""A first hour with h5py, as one program: it prints what it sees, whatever ``h5py`` it is given."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np


def tour(h5py: Any, path: str, other: str, say: Callable[..., None]) -> None:
    """Make a file, look at it, change it, copy from it."""
    with h5py.File(path, "w") as file:
        _fill(h5py, file, say)
    with h5py.File(path, "r") as file:
        _look(h5py, file, say)
    with h5py.File(path, "a") as file:
        _change(h5py, file, say)
        with h5py.File(other, "w") as target:
            file.copy("weather", target, without_attrs=False)
            say(sorted(target["weather"]), target["weather/temperature"].shape)
    say(bool(file))


def _fill(h5py: Any, file: Any, say: Callable[..., None]) -> None:
    say(file.name, file.mode, list(file.keys()), len(file))
    weather = file.create_group("weather")
    weather.attrs["station"] = "Utsira"
    weather.attrs["height"] = 55
    weather.attrs["position"] = np.array([59.3, 4.9], dtype="f4")
    values = np.arange(24 * 6, dtype="f8").reshape(24, 6) / 7
    data = weather.create_dataset("temperature", data=values, chunks=(6, 3), compression="gzip", shuffle=True)
    data.dims[0].label = "hour"
    data.attrs["unit"] = "degC"
    data.attrs["flags"] = [True, False]
    file.create_dataset("deep/down/here", (3,), dtype="i2", fillvalue=-1)
    file["names"] = ["wind", "régn"]
    file["answer"] = 42
    growing = file.create_dataset("growing", (2, 0), maxshape=(2, None), dtype="i4", chunks=(2, 4))
    growing.resize((2, 3))
    growing[:, 1] = [5, 6]
    file.create_dataset("nothing", data=h5py.Empty("f4"))
    kind = np.dtype([("id", "i4"), ("name", "S5"), ("where", "f8")])
    file.create_dataset("stations", data=np.array([(1, b"Oslo", 59.9), (2, b"Bodo", 67.3)], dtype=kind))
    ragged = file.create_dataset("ragged", (3,), dtype=h5py.vlen_dtype("i4"))
    ragged[0] = [1, 2, 3]
    ragged[2] = np.arange(2)
    file["soft"] = h5py.SoftLink("/deep/down")
    say(data.shape, data.dtype, data.chunks, data.compression, data.compression_opts, data.shuffle, data.fletcher32)


def _look(h5py: Any, file: Any, say: Callable[..., None]) -> None:
    found: list[str] = []
    file.visititems(lambda name, item: found.append(f"{name}:{type(item).__name__}"))
    say(found)
    say(list(file), "weather/temperature" in file, "weather/rain" in file, file["/weather"].name)
    data = file["weather/temperature"]
    say(data[0, 0], data[-1, -1], data[2:5, 1], data[[0, 5, 7], 2], data[..., 0].sum(), len(data), data.ndim, data.size)
    mask = data[...] > 20
    say(data[mask], data[()].mean(), type(data[0, 0]).__name__, data.parent.name, data.file.mode)
    say(dict(file["weather"].attrs), data.attrs["unit"], data.attrs["flags"], data.attrs.get("none", 3))
    say({name: type(value).__name__ for name, value in file["weather"].attrs.items()})
    say(data.dims[0].label, data.dims[1].label, data.maxshape, data.nbytes)
    say(file["names"][0], file["names"].asstr()[...].tolist(), h5py.check_string_dtype(file["names"].dtype))
    say(file["answer"][()], file["answer"].shape, file["deep/down/here"][...], file["soft/here"].fillvalue)
    say(file["growing"][...].tolist(), file["growing"].maxshape)
    say(file["nothing"][()] == h5py.Empty("f4"), file["nothing"].shape)
    stations = file["stations"]
    say(stations["name"], stations[0], stations[0]["where"], stations.fields(["id", "where"])[:], stations.dtype.names)
    say([row.tolist() for row in file["ragged"]], file["ragged"].dtype.kind)
    say(data.astype("i4")[0], list(data.iter_chunks())[:2], list(data.iter_chunks(np.s_[5:8, 0:2])))
    say(file.get("soft", getlink=True).path, file.get("weather", getclass=True).__name__, file.get("no", "default"))
    for attempt in (
        lambda: file["missing"],
        lambda: data[99],
        lambda: data[::-1],
        lambda: data[[3, 1]],
        lambda: data["field"],
        lambda: data[{}],
        lambda: file.create_group("late"),
        lambda: data.attrs["missing"],
        lambda: file["deep/down/here"].resize((5,)),
        lambda: h5py.File("no such place", "r"),
        stations.asstr,
    ):
        try:
            attempt()
            say("no error")
        except Exception as error:
            say(type(error).__name__)
    say(repr(data), repr(file["weather"]), repr(file.keys()), repr(h5py.Empty("f4")))


def _change(h5py: Any, file: Any, say: Callable[..., None]) -> None:
    data = file["weather/temperature"]
    data[0:2, 0] = [100, 200]
    data[2, :] = 7
    say(data[:3, :2])
    block = np.zeros((4, 4))
    data.read_direct(block, np.s_[0:2, 0:2], np.s_[1:3, 1:3])
    say(block)
    data.write_direct(np.full((2, 2), 9.0), dest_sel=np.s_[22:24, 4:6])
    say(data[22:, 4:])
    file["stations"]["where"] = [1.5, 2.5]
    say(file["stations"][...])
    file.move("answer", "moved/answer")
    say("answer" in file, file["moved/answer"][()])
    del file["moved"]
    say("moved" in file, sorted(file))
    again = file.require_dataset("weather/temperature", (24, 6), "f8")
    say(again == data, file.require_group("weather").name)
    for shape in ((2, 3), (24, 7)):
        with contextlib.suppress(TypeError):
            file.require_dataset("weather/temperature", shape, "f8")
            say("no error")
    clipped = file.create_dataset("small", (3,), dtype="u1")
    clipped[...] = np.array([300, -5, 7])
    say(clipped[...])
    like = file.create_dataset_like("like", data)
    say(like.shape, like.dtype, like.chunks, like.compression)
    data.attrs.modify("unit", "K")
    del data.attrs["flags"]
    say(data.attrs["unit"], "flags" in data.attrs)
    file["growing"].resize(4, axis=1)
    say(file["growing"].shape)
    with contextlib.suppress(Exception):
        file["growing"].resize((3, 4))
        say("no error")
