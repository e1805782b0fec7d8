"""Size hints: how many bytes each codec of a chain must decode to, or may decode to at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr.codecs.base.bound import BoundBase

if TYPE_CHECKING:
    from zarr.codecs.base.adapters import Stage


def encoded_sizes(stages: Sequence[Stage], nbytes: int | None) -> list[int | None]:
    """Return the number of bytes before the first stage and after each, None from where it depends on the data.

    Parameters
    ----------
    stages
        In the order of encoding.
    nbytes
        The size of a decoded chunk; None for elements of any length.
    """
    sizes = [nbytes]
    for stage in stages:
        nbytes = None if nbytes is None else stage.encoded_size(nbytes)
        sizes.append(nbytes)
    return sizes


def set_size_hints(stages: Sequence[Stage], nbytes: int | None, most: int | None = None) -> None:
    """Set how many bytes each stage must decode to, or may at most, as far as that is known before.

    Parameters
    ----------
    stages
        In the order of encoding.
    nbytes
        How many bytes the first stage must decode to; None where that is not known.
    most
        How many bytes it may decode to, where ``nbytes`` is None.
    """
    for stage, size in zip(stages, encoded_sizes(stages, nbytes), strict=False):
        stage.expect(size)
    exact = nbytes is not None
    most = nbytes if nbytes is not None else most
    for stage in stages:
        bound: Any = getattr(stage, "bound", None)
        if most is None or not isinstance(bound, BoundBase):
            return
        if not exact:
            bound.expect_most(most)
        size = stage.encoded_size(most)
        exact, most = exact and size is not None, bound.encoded_most(most) if size is None else size


_SAME_SIZE = frozenset(("shuffle", "bitround"))
_CHECKSUMS = frozenset(("crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3"))
DTYPE_PARAMETERS = {
    "delta": ("dtype", "astype"),
    "fixedscaleoffset": ("dtype", "astype"),
    "quantize": ("dtype", "astype"),
    "astype": ("decode_dtype", "encode_dtype"),
    "categorize": ("dtype", "astype"),
}
"""Of filters that change the data type: the parameters that name the decoded and the encoded one."""


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
    if name not in DTYPE_PARAMETERS:
        return None
    plain, stored = (config.get(key) for key in DTYPE_PARAMETERS[name])
    plain_size = np.dtype(plain).itemsize
    if not plain_size or nbytes % plain_size:
        return None
    return nbytes // plain_size * np.dtype(stored or plain).itemsize
