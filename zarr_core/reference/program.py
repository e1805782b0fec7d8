"""A chain of stages, one codec after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zarr_core.reference.decoders import checked_params, decode, encode
from zarr_core.reference.shuffle import as_bytes

STORED_SLACK = 1 << 20


class Program:
    """Codecs between a chunk's bytes and its stored form, in encode order."""

    def __init__(
        self,
        itemsize: int,
        swap_width: int,
        order: Sequence[int] | None,
        stages: Sequence[tuple[str, dict[str, Any]]],
    ) -> None:
        if itemsize < 1:
            raise ValueError(f"itemsize must be at least 1, got {itemsize}")
        if swap_width not in (0, 2, 4, 8) or (swap_width and itemsize % swap_width):
            raise ValueError(f"swap_width must be 0, 2, 4 or 8 and divide the itemsize {itemsize}, got {swap_width}")
        self.itemsize = itemsize
        self.swap_width = swap_width
        self.order = None if order is None else tuple(int(axis) for axis in order)
        if self.order is not None and (len(self.order) > 64 or sorted(self.order) != list(range(len(self.order)))):
            raise ValueError(f"order must be a permutation of at most 64 axes, got {order}")
        self.stages = tuple((str(name), dict(params)) for name, params in stages)
        if len(self.stages) > 16:
            raise ValueError(f"at most 16 stages, got {len(self.stages)}")
        for name, params in self.stages:
            checked_params(name, params)

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.itemsize, self.swap_width, self.order, self.stages)

    def decode(self, payload: Any, nbytes: int) -> NDArray[np.uint8]:
        """Undo all stages; exactly ``nbytes`` must come out."""
        if nbytes < 0:
            raise ValueError(f"nbytes must not be negative, got {nbytes}")
        data = as_bytes(payload)
        for name, params in reversed(self.stages):
            data = decode(name, data, max_nbytes=2 * nbytes + STORED_SLACK, **params)
        if len(data) != nbytes:
            raise ValueError(f"a payload of {len(as_bytes(payload))} bytes decodes to {len(data)} bytes, not {nbytes}")
        return data.copy()

    def encode(self, data: Any) -> bytes:
        """Run all stages."""
        result = as_bytes(data).tobytes()
        for name, params in self.stages:
            result = encode(name, result, **params)
        return bytes(result)

    def read_chunk(self, payload: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Decode a stored chunk to an array: stages undone, bytes swapped, axes put back."""
        raw = self.decode(payload, math.prod(shape) * self.itemsize)
        if self.swap_width:
            raw = raw.reshape(-1, self.swap_width)[:, ::-1].copy().reshape(-1)
        if self.order is None:
            return raw.view(dtype).reshape(shape)
        stored = raw.view(dtype).reshape([shape[axis] for axis in self.order])
        return stored.transpose(np.argsort(self.order))

    def write_chunk(self, chunk: NDArray[Any]) -> bytes:
        """Encode an array."""
        ordered = chunk if self.order is None else chunk.transpose(self.order)
        raw = np.frombuffer(ordered.tobytes(), np.uint8)
        if self.swap_width:
            raw = raw.reshape(-1, self.swap_width)[:, ::-1].copy().reshape(-1)
        return self.encode(raw)
