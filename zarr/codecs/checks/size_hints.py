"""What each codec of a chain is told of the bytes that it must give: their number, the most, or how they begin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from zarr.codecs.base.bound import BoundBase, Bytes

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


def tell_sizes(
    stages: Sequence[Stage],
    nbytes: int | None,
    most: int | None = None,
    check: Callable[[Bytes], None] | None = None,
) -> None:
    """Tell each stage what its decoded bytes must be, as far as that is known before they are.

    Parameters
    ----------
    stages
        In the order of encoding.
    nbytes
        How many bytes the first stage must decode to; None where that is not known.
    most
        How many bytes it may decode to, where ``nbytes`` is None.
    check
        Refuses the first decoded bytes of the first stage, where neither is known.
    """
    for stage, size in zip(stages, encoded_sizes(stages, nbytes), strict=False):
        stage.expect(size)
    _tell_most(stages, nbytes, most)
    for stage in stages:
        bound: Any = getattr(stage, "bound", None)
        if check is not None and hasattr(bound, "expect_start"):
            bound.expect_start(check)
        check = getattr(bound, "check_start", None)


def _tell_most(stages: Sequence[Stage], nbytes: int | None, most: int | None) -> None:
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
