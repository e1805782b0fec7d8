"""The ``conditional`` codec: a header in each chunk marks the codecs that were applied to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from zarr.abc.codec import BytesBytesCodec, Codec
from zarr.chunks.spec import ArraySpec
from zarr.codecs.base.adapters import make_stage, set_size_hints
from zarr.codecs.base.bound import BoundBase, Bytes, encoded_most
from zarr.codecs.base.described import BytesBytesMethods, parse_codecs, parse_field_int
from zarr.codecs.base.streams import SizedStream
from zarr.types import JSON

# Stages for this number of headers are kept; an intact array has few, damaged ones may have many.
_MAX_HEADERS = 256


class BoundConditional(SizedStream):
    """A header, then bytes encoded by the codecs whose bit is set."""

    def __init__(self, spec: ArraySpec, codecs: tuple[Codec, ...], header_nbytes: int) -> None:
        super().__init__("conditional", spec)
        self._spec, self._codecs = spec, codecs
        self._stages = self._bound(range(len(codecs)))
        self._header_nbytes = header_nbytes
        self._chosen: dict[int, list[BoundBase]] = {}

    def encoded_most(self, nbytes: int) -> int:
        """Return the maximum encoded size of ``nbytes`` bytes: codecs are applied only if they make the bytes fewer."""
        return encoded_most(nbytes) + self._header_nbytes

    def decode(self, data: Bytes) -> Bytes:
        """Undo the codecs that were applied."""
        if data.size < self._header_nbytes:
            raise self.damaged(f"a chunk of {data.size} bytes has no header of {self._header_nbytes}")
        applied = int.from_bytes(data[: self._header_nbytes].tobytes(), "little")
        if applied >> len(self._stages):
            raise self.damaged(f"the header {applied:#x} names codecs beyond the {len(self._stages)} there are")
        data = data[self._header_nbytes :]
        for stage in reversed(self._stages_of(applied)):
            data = stage.decode(data)
        return data

    def encode(self, data: Bytes) -> Bytes:
        """Apply the useful codecs: a checksum always, a compressor if it makes the bytes fewer."""
        applied = 0
        for bit, stage in enumerate(self._stages):
            encoded = stage.encode(data)
            if encoded is not None and (encoded.size < data.size or stage.encoded_size(data.size) is not None):
                data, applied = encoded, applied | 1 << bit
        header = np.frombuffer(applied.to_bytes(self._header_nbytes, "little"), dtype=np.uint8)
        return np.concatenate([header, data])

    def _bound(self, places: Iterable[int]) -> list[BoundBase]:
        return [make_stage(self._codecs[place], self._spec) for place in places]

    def _stages_of(self, applied: int) -> list[BoundBase]:
        """Return the stages of a header, each with its size hint, which depends on the codecs before it."""
        chosen = self._chosen.get(applied)
        if chosen is None:
            chosen = self._bound(bit for bit in range(len(self._codecs)) if applied >> bit & 1)
            set_size_hints(chosen, self._nbytes, self._most)
            if len(self._chosen) >= _MAX_HEADERS:
                self._chosen.clear()
            self._chosen[applied] = chosen
        return chosen


@dataclass(frozen=True)
class ConditionalCodec(BytesBytesMethods, BytesBytesCodec):
    """Apply codecs to each chunk only if they are useful, and mark them in a header.

    Parameters
    ----------
    codecs
        Bytes-to-bytes codecs.
    header_bits
        The length of the header, a multiple of 8; by default the shortest with a bit for each codec.

    Notes
    -----
    https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional

    Examples
    --------
    >>> from zarr.codecs import ZstdCodec
    >>> ConditionalCodec(codecs=[ZstdCodec()]).header_bits
    8
    """

    _name = "conditional"

    codecs: tuple[Codec, ...]
    header_bits: int

    def __init__(self, *, codecs: Iterable[Codec | dict[str, JSON]], header_bits: int | None = None) -> None:
        parsed = parse_codecs(codecs)
        wrong = [codec for codec in parsed if not isinstance(codec, BytesBytesCodec)]
        if wrong:
            raise TypeError(f"conditional holds bytes-to-bytes codecs only, got {wrong}")
        shortest = max(8, -(-len(parsed) // 8) * 8)
        bits = shortest if header_bits is None else parse_field_int(header_bits, "header_bits")
        if bits % 8 or bits < shortest:
            raise ValueError(f"header_bits must be a multiple of 8, at least {shortest}, got {bits}")
        object.__setattr__(self, "codecs", parsed)
        object.__setattr__(self, "header_bits", bits)

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return the codec with its inner codecs evolved."""
        codecs = tuple(codec.evolve_from_array_spec(array_spec) for codec in self.codecs)
        return self if codecs == self.codecs else type(self)(codecs=codecs, header_bits=self.header_bits)

    def bind(self, spec: ArraySpec) -> BoundConditional:
        """Return the codec bound to chunks of one description."""
        return BoundConditional(spec, self.codecs, self.header_bits // 8)
