"""Raw snappy streams, and blosc frames of them: decoding any, encoding without looking for repetitions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.shuffle import bitshuffle, bitunshuffle, shuffle, unshuffle

Bytes = NDArray[np.uint8]
HEADER, FORMAT, SHUFFLED, STORED, BITSHUFFLED, RESERVED, UNSPLIT = 16, 2, 1, 2, 4, 8, 16
MAX_STREAMS, MIN_STREAM = 16, 128


class DamagedError(ValueError):
    """Not a stream, or not all of one."""


def decode_stream(raw: bytes) -> bytes:
    """Decode a raw stream."""
    total, used = 0, 0
    while True:
        total |= (raw[used] & 127) << (7 * used)
        used += 1
        if raw[used - 1] < 128:
            break
        if used == 5:
            raise DamagedError
    made = bytearray()
    while used < len(raw):
        kind, length = raw[used] & 3, (raw[used] >> 2) + 1
        used += 1
        extra = max(length - 60, 0) if kind == 0 else (1, 2, 4)[kind - 1]
        number, used = int.from_bytes(raw[used : used + extra], "little"), used + extra
        if used > len(raw):
            raise DamagedError
        if kind == 0:
            length = number + 1 if extra else length
            made += raw[used : used + length]
            used += length
            if used > len(raw):
                raise DamagedError
            continue
        if kind == 1:
            number, length = number | (length - 1) >> 3 << 8, 4 + ((length - 1) & 7)
        if not 0 < number <= len(made):
            raise DamagedError
        for _ in range(length):
            made.append(made[-number])
    if len(made) != total:
        raise DamagedError
    return bytes(made)


def encode_stream(data: bytes) -> bytes:
    """Encode as a stream of literals only."""
    made, rest = bytearray(), len(data)
    while rest >= 128:
        made.append(rest & 127 | 128)
        rest >>= 7
    made.append(rest)
    for first in range(0, len(data), 60):
        part = data[first : first + 60]
        made += bytes([(len(part) - 1) << 2]) + part
    return bytes(made)


def is_frame(raw: bytes) -> bool:
    """Return True if a blosc frame is of such streams."""
    return len(raw) >= HEADER and raw[2] >> 5 == FORMAT and not raw[2] & STORED


def decode_frame(raw: bytes) -> bytes:
    """Decode a blosc frame; IndexError or DamagedError where it is none."""
    flags, width = raw[2], raw[3]
    nbytes, blocksize, size = (int.from_bytes(raw[i : i + 4], "little") for i in (4, 8, 12))
    if raw[0] != 2 or raw[1] != 1 or flags & RESERVED or size > len(raw) or not 0 < blocksize <= nbytes or not width:
        raise DamagedError
    parts, count = [], -(-nbytes // blocksize)
    for block in range(count):
        length = min(blocksize, nbytes - block * blocksize)
        split = not flags & UNSPLIT and width <= MAX_STREAMS and length // width >= MIN_STREAM and length == blocksize
        at = int.from_bytes(raw[HEADER + 4 * block : HEADER + 4 * block + 4], "little")
        if at < HEADER + 4 * count:
            raise DamagedError
        parts.append(_block(raw[:size], at, width if split else 1, length, flags, width))
    return b"".join(parts)


def _block(raw: bytes, at: int, streams: int, length: int, flags: int, width: int) -> bytes:
    made = b""
    for _ in range(streams):
        stored = int.from_bytes(raw[at : at + 4], "little")
        part = raw[at + 4 : at + 4 + stored]
        if not stored or len(part) != stored:
            raise DamagedError
        made += part if stored == length // streams else decode_stream(part)
        at += 4 + stored
    if len(made) != length:
        raise DamagedError
    plain = np.frombuffer(made, np.uint8)
    if flags & SHUFFLED and width > 1:
        plain = unshuffle(plain, width)
    elif flags & BITSHUFFLED and length >= width:
        plain = bitunshuffle(plain, width)
    return plain.tobytes()


def encode_frame(data: Bytes, shuffled: int, width: int) -> bytes:
    """Encode as a frame of one block and one stream."""
    flags = FORMAT << 5 | UNSPLIT | {1: SHUFFLED, 2: BITSHUFFLED}.get(shuffled, 0)
    plain = data
    if shuffled == 1 and width > 1:
        plain = shuffle(data, width)
    elif shuffled == 2 and len(data) >= width:
        plain = bitshuffle(data, width)
    stream = encode_stream(plain.tobytes())
    size = HEADER + 8 + len(stream)
    sizes = (len(data), len(data), size, HEADER + 4, len(stream))
    head = bytes([2, 1, flags, width]) + b"".join(number.to_bytes(4, "little") for number in sizes)
    return head + stream
