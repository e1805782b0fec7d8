"""What a store offers to the compiled core, which serves many keys at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from zarr._records import record, set_values

if TYPE_CHECKING:
    from zarr.types import BytesLike


@record(frozen=True)
class BulkAccess:
    """How the compiled core may serve many keys of a store at once.

    Parameters
    ----------
    kind
        "files": every key is a file below ``root``, and the core opens it itself. "buffers": the two functions hand
        over the bytes of many keys.
    root
        The folder, for "files".
    get_many
        Takes keys, returns for each its bytes or None, for "buffers".
    set_many
        Takes pairs of a key and its bytes, or None to delete the key. None if the store is read-only.
    fsync
        Whether files are synchronised to the disk before they become visible, for "files".
    in_place
        Whether ``get_many`` hands over memory as it lies, so that taking a little of a large value costs little.
    """

    kind: Literal["files", "buffers"]
    root: str | None
    get_many: Callable[[list[str]], list[BytesLike | None]] | None
    set_many: Callable[[list[tuple[str, BytesLike | None]]], None] | None
    fsync: bool
    in_place: bool

    def __init__(
        self,
        kind: Literal["files", "buffers"],
        root: str | None = None,
        get_many: Callable[[list[str]], list[BytesLike | None]] | None = None,
        set_many: Callable[[list[tuple[str, BytesLike | None]]], None] | None = None,
        fsync: bool = False,
        in_place: bool = False,
    ) -> None:
        set_values(self, kind=kind, root=root, get_many=get_many, set_many=set_many, fsync=fsync, in_place=in_place)
