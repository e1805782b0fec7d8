"""How many bytes the numcodecs filters give, where that follows from how many they get."""

from __future__ import annotations

from typing import Any

import numpy as np

_SAME_SIZE = frozenset(("shuffle", "bitround"))
_CHECKSUMS = frozenset(("crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"))
_RETYPING = {
    "delta": ("dtype", "astype"),
    "fixedscaleoffset": ("dtype", "astype"),
    "quantize": ("dtype", "astype"),
    "astype": ("decode_dtype", "encode_dtype"),
    "categorize": ("dtype", "astype"),
}


def first_size(config: dict[str, Any], count: int) -> int | None:
    """Return how many bytes a filter makes of ``count`` objects, or None if that depends on the data.

    Examples
    --------
    >>> first_size({"id": "categorize", "astype": "<u2"}, 80)
    160
    """
    if config.get("id") != "categorize":
        return None
    return count * np.dtype(config.get("astype") or "u1").itemsize


def filter_size(config: dict[str, Any], nbytes: int) -> int | None:
    """Return how many bytes a filter makes of ``nbytes`` bytes, or None if that depends on the data.

    Parameters
    ----------
    config
        What ``codec.get_config()`` gives.
    nbytes
        The size of the decoded data.

    Examples
    --------
    >>> filter_size({"id": "delta", "dtype": "<i8", "astype": "<i2"}, 80)
    20
    """
    name = config.get("id", "")
    if name in _SAME_SIZE:
        return nbytes
    if name in _CHECKSUMS:
        return nbytes + 4
    if name == "packbits":
        return 1 + -(-nbytes // 8)
    if name not in _RETYPING:
        return None
    plain, stored = (config.get(key) for key in _RETYPING[name])
    plain_size = np.dtype(plain).itemsize
    if not plain_size or nbytes % plain_size:
        return None
    return nbytes // plain_size * np.dtype(stored or plain).itemsize
