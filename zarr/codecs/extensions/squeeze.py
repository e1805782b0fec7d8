"""The ``zarrs.squeeze`` codec: a chunk without its dimensions of length 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec
from zarr.codecs.base.bound import FunctionCodec, replace_spec
from zarr.codecs.base.sync_methods import ArrayArrayMethods

if TYPE_CHECKING:

    from zarr.chunks.spec import ArraySpec


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without its lengths of 1; one of them stays where there are no others.

    Examples
    --------
    >>> squeezed((1, 3, 1, 2)), squeezed((1, 1))
    ((3, 2), (1,))
    """
    return tuple(length for length in shape if length != 1) or (1,)


@dataclass(frozen=True)
class SqueezeCodec(ArrayArrayMethods, ArrayArrayCodec):
    """Drop the dimensions of a chunk that have length 1 before it is stored; the elements keep their order.

    The codecs behind it see fewer dimensions: a ``transpose`` or a ``sharding_indexed`` after it counts only the
    dimensions that are left. It has no parameters.

    Notes
    -----
    https://codec.zarrs.dev/array_to_array/squeeze

    Examples
    --------
    >>> import zarr
    >>> array = zarr.create_array({}, shape=(4, 6), chunks=(1, 6), dtype="i4", filters=SqueezeCodec())
    >>> array[1] = 7
    >>> array[1, :3].tolist()
    [7, 7, 7]
    """

    _name = "zarrs.squeeze"
    _requires_configuration = False
    is_fixed_size = True

    def resolve_metadata(self, chunk_spec: ArraySpec) -> ArraySpec:
        """Return the description without dimensions of length 1."""
        return replace_spec(chunk_spec, shape=squeezed(chunk_spec.shape))

    def encode_grid(self, chunk_grid: Any) -> Any:
        """Return a regular grid without dimensions in which chunks have length 1; any other grid as it is."""
        lengths = getattr(chunk_grid, "chunk_shape", None)
        return chunk_grid if lengths is None else type(chunk_grid)(chunk_shape=squeezed(lengths))

    def bind(self, spec: ArraySpec) -> FunctionCodec:
        """Make the codec ready for chunks of one description."""
        out_spec = self.resolve_metadata(spec)
        return FunctionCodec(
            "zarrs.squeeze", out_spec, lambda data: data.reshape(spec.shape), lambda data: data.reshape(out_spec.shape)
        )
