"""A codec: every byte plus a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zarr.abc.codec import BytesBytesCodec


@dataclass(frozen=True)
class Rotate(BytesBytesCodec):
    """Adds ``by`` to every byte."""

    is_fixed_size = True
    by: int = 13

    @classmethod
    def from_dict(cls, data):
        """Read the JSON object."""
        return cls(**data.get("configuration", {}))

    def to_dict(self):
        """Return the JSON object."""
        return {"name": "example.rotate", "configuration": {"by": self.by}}

    async def _encode_single(self, chunk_bytes, chunk_spec):
        return chunk_spec.prototype.buffer.from_array_like(chunk_bytes.as_numpy_array().view("u1") + np.uint8(self.by))

    async def _decode_single(self, chunk_bytes, chunk_spec):
        return chunk_spec.prototype.buffer.from_array_like(chunk_bytes.as_numpy_array().view("u1") - np.uint8(self.by))

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        """Return the same length."""
        return input_byte_length
