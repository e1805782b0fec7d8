"""The native codecs through numcodecs' Python calls; crc32c, shuffle and delta in NumPy."""

from __future__ import annotations

import zlib
from typing import Any

import numcodecs.blosc
import numcodecs.gzip
import numcodecs.lz4
import numcodecs.zlib
import numcodecs.zstd
import numpy as np
from numpy.typing import NDArray

from zarr_core.reference import snappy
from zarr_core.reference.shuffle import as_bytes, delta_decode, delta_encode, shuffle, unshuffle

DEFAULT_MAX_NBYTES = 1 << 34

DEFAULTS: dict[str, dict[str, Any]] = {
    "zstd": {"level": 0, "checksum": False},
    "gzip": {"level": 1},
    "zlib": {"level": 1},
    "lz4": {"acceleration": 1},
    "blosc": {"cname": "lz4", "clevel": 5, "shuffle": 1, "typesize": 1, "blocksize": 0},
    "crc32c": {"location": "end"},
    "shuffle": {"elementsize": 4},
    "delta": {"dtype": None, "astype": None},
}
BOUNDS = {
    ("zstd", "level"): (-131072, 22),
    ("gzip", "level"): (-1, 9),
    ("zlib", "level"): (-1, 9),
    ("lz4", "acceleration"): (-(1 << 31), (1 << 31) - 1),
    ("blosc", "clevel"): (0, 9),
    ("blosc", "shuffle"): (-1, 2),
    ("blosc", "typesize"): (1, (1 << 31) - 1),
    ("blosc", "blocksize"): (0, (1 << 31) - 1),
    ("shuffle", "elementsize"): (1, (1 << 31) - 1),
}
BLOSC_NAMES = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")


def checked_params(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Parameters with defaults; ValueError for what the codec does not know."""
    if name not in DEFAULTS:
        raise ValueError(f"no native codec is called {name!r}; there are {', '.join(sorted(DEFAULTS))}")
    unknown = given.keys() - DEFAULTS[name].keys()
    if unknown:
        raise ValueError(f"codec {name!r} has no parameter {', '.join(sorted(unknown))}")
    params = DEFAULTS[name] | given
    for (codec, key), (low, high) in BOUNDS.items():
        if codec == name and not low <= int(params[key]) <= high:
            raise ValueError(f"codec {name!r}: {key} must be in {low} .. {high}, got {params[key]}")
    if name == "blosc" and params["cname"] not in BLOSC_NAMES:
        raise ValueError(f"codec 'blosc': cname must be one of {', '.join(BLOSC_NAMES)}, got {params['cname']!r}")
    if name == "crc32c" and params["location"] not in ("start", "end"):
        raise ValueError(f"codec 'crc32c': location must be 'start' or 'end', got {params['location']!r}")
    if name == "delta":
        _check_delta(params)
    return params


def _check_delta(params: dict[str, Any]) -> None:
    if params["dtype"] is None:
        raise ValueError("codec 'delta' needs a dtype")
    dtype = np.dtype(params["dtype"])
    astype = dtype if params["astype"] is None else np.dtype(params["astype"])
    native = dtype.isnative and dtype.kind in "iuf" and dtype.itemsize <= 8 and dtype != np.float16
    if astype != dtype or not native:
        raise ValueError(f"codec 'delta' from {dtype} to {astype} has no native form")


CRC_TABLE = np.arange(256, dtype=np.uint32)
for _ in range(8):
    CRC_TABLE = np.where(CRC_TABLE & 1, (CRC_TABLE >> 1) ^ np.uint32(0x82F63B78), CRC_TABLE >> 1)
CRC_STEPS = CRC_TABLE.tolist()


def crc32c_sum(data: bytes) -> int:
    """CRC-32C, one byte at a time."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_STEPS[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def encode(name: str, data: Any, **params: Any) -> bytes:
    """One codec's stored form of some bytes."""
    params = checked_params(name, params)
    raw = as_bytes(data)
    if name == "crc32c":
        checksum = crc32c_sum(raw.tobytes()).to_bytes(4, "little")
        return checksum + raw.tobytes() if params["location"] == "start" else raw.tobytes() + checksum
    if name == "shuffle":
        if len(raw) % params["elementsize"]:
            raise ValueError(f"shuffle: {len(raw)} bytes cannot be encoded with {params}")
        return bytes(shuffle(raw, params["elementsize"]).tobytes())
    if name == "delta":
        return bytes(delta_encode(raw, params["dtype"]).tobytes())
    if name == "blosc" and params["cname"] == "snappy" and params["clevel"] > 0 and len(raw):
        width = params["typesize"] if params["typesize"] <= 255 else 1
        shuffled = params["shuffle"] if params["shuffle"] >= 0 else 2 if width == 1 else 1
        return snappy.encode_frame(raw, shuffled, width)
    return bytes(_codec(name, params).encode(_typed(raw, name, params)))


def _typed(raw: NDArray[np.uint8], name: str, params: dict[str, Any]) -> NDArray[Any]:
    """Bytes as numcodecs' Blosc wants them: items of the right width."""
    size = params["typesize"] if name == "blosc" else 1
    return raw.view(f"V{size}") if size > 1 and len(raw) and len(raw) % size == 0 else raw


def _codec(name: str, params: dict[str, Any]) -> Any:
    if name == "zstd":
        return numcodecs.zstd.Zstd(level=params["level"], checksum=params["checksum"])
    if name == "gzip":
        return numcodecs.gzip.GZip(level=params["level"])
    if name == "zlib":
        return numcodecs.zlib.Zlib(level=params["level"])
    if name == "lz4":
        return numcodecs.lz4.LZ4(acceleration=params["acceleration"])
    cname = "lz4" if params["cname"] == "snappy" else params["cname"]  # the other way to make no compressed frame
    return numcodecs.blosc.Blosc(cname, params["clevel"], params["shuffle"], params["blocksize"])


def decode(
    name: str, payload: Any, nbytes: int | None = None, *, max_nbytes: int | None = None, **params: Any
) -> NDArray[np.uint8]:
    """Decode what a codec stored; ValueError on damage or another size than ``nbytes``."""
    params = checked_params(name, params)
    if nbytes is not None and nbytes < 0:
        raise ValueError(f"nbytes must not be negative, got {nbytes}")
    raw = as_bytes(payload)
    try:
        result = _decode(name, raw, params)
    except (RuntimeError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: the payload of {len(raw)} bytes is damaged or not {name}: {error}") from error
    limit = DEFAULT_MAX_NBYTES if max_nbytes is None else max_nbytes
    if (nbytes is not None and len(result) != nbytes) or len(result) > limit:
        wanted = limit if nbytes is None else nbytes
        raise ValueError(f"{name}: a payload of {len(raw)} bytes decodes to {len(result)} bytes, not {wanted}")
    return result


def _decode(name: str, raw: NDArray[np.uint8], params: dict[str, Any]) -> NDArray[np.uint8]:
    if name == "crc32c":
        return _checked_crc32c(raw, params["location"])
    if name == "shuffle":
        return unshuffle(raw, params["elementsize"])
    if name == "delta":
        return as_bytes(delta_decode(raw, params["dtype"]))
    if name == "blosc":
        _check_blosc(raw)
        if snappy.is_frame(raw.tobytes()):
            return _snappy_frame(raw)
    if not len(raw):
        raise ValueError(f"{name}: the payload is empty")
    return as_bytes(np.frombuffer(_codec(name, params).decode(raw), np.uint8)).copy()


def _snappy_frame(raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
    try:
        return np.frombuffer(snappy.decode_frame(raw.tobytes()), np.uint8)
    except (snappy.DamagedError, IndexError) as error:
        raise ValueError(f"blosc: the payload of {len(raw)} bytes is damaged or not blosc") from error


def _check_blosc(raw: NDArray[np.uint8]) -> None:
    """numcodecs believes the frame about its own length."""
    if len(raw) < 16 or int(raw[12:16].view("<u4")[0]) > len(raw):
        raise ValueError(f"blosc: the payload of {len(raw)} bytes is damaged or not blosc")


def _checked_crc32c(raw: NDArray[np.uint8], location: str) -> NDArray[np.uint8]:
    if len(raw) < 4:
        raise ValueError(f"crc32c: the payload of {len(raw)} bytes is too short for a checksum")
    at_start = location == "start"
    body, checksum = (raw[4:], raw[:4]) if at_start else (raw[:-4], raw[-4:])
    stored, found = int.from_bytes(checksum.tobytes(), "little"), crc32c_sum(body.tobytes())
    if stored != found:
        raise ValueError(
            f"crc32c: the stored checksum is {stored:#010x}, that of the {len(body)} bytes is {found:#010x}"
        )
    return body.copy()


def decode_blosc_range(payload: Any, start: int, stop: int) -> NDArray[np.uint8]:
    """Return some bytes of a decoded blosc frame."""
    decoded = decode("blosc", payload)
    if not 0 <= start <= stop <= len(decoded):
        raise IndexError(f"bytes {start} .. {stop} do not lie in a frame of {len(decoded)} bytes")
    return decoded[start:stop]


def available() -> dict[str, bool]:
    """Return False for each codec: none is native here."""
    return dict.fromkeys(DEFAULTS, False)
