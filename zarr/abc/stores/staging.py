"""Writing aside: what a store offers so that many changes appear in one step, or not at all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

from zarr._records import record, set_values
from zarr.abc.stores.overrides import OWN_NAMES, class_is_synchronous

if TYPE_CHECKING:
    from zarr.abc.stores.sync_store import SyncStore
    from zarr.buffer.core import Buffer


class TakenError(Exception):
    """What was to be published is not, since a key holds something else than it was expected to hold.

    Parameters
    ----------
    key : str
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"key {key!r} was changed by somebody else in the meantime")
        self.key = key


@record(frozen=True)
class Changes:
    """Many changes of a store that belong together.

    Parameters
    ----------
    removed : sequence of str
        Folders that go with all that is below them, before the values are set; the root is ``""``.
    values : mapping of str to Buffer or None
        What each key holds then; None: nothing.
    absent : collection of str
        Keys that must have no value before.
    digests : mapping of str to bytes or None
        What keys must hold before, by :func:`zarr.storage.wrappers.overlay.digest_of`; None: nothing.
    defaults : collection of str
        Keys that get their value only where there is none; what somebody else has put there in the meantime stays.
    """

    removed: Sequence[str]
    values: Mapping[str, Buffer | None]
    absent: Collection[str]
    digests: Mapping[str, bytes | None]
    defaults: Collection[str]

    def __init__(
        self,
        removed: Sequence[str] = (),
        values: Mapping[str, Buffer | None] | None = None,
        absent: Collection[str] = (),
        digests: Mapping[str, bytes | None] | None = None,
        defaults: Collection[str] = (),
    ) -> None:
        values, digests = {} if values is None else values, {} if digests is None else digests
        set_values(self, removed=removed, values=values, absent=absent, digests=digests, defaults=defaults)


class Stage(ABC):
    """A place aside. Its store shows what the real one will hold once the stage is published."""

    store: SyncStore

    @abstractmethod
    def publish(self) -> None:
        """Let everybody see what was written.

        Raises
        ------
        TakenError
            If a key that had to be absent has a value; nothing has changed then.
        """

    @abstractmethod
    def discard(self) -> None:
        """Forget what was written; after :meth:`publish`, there is nothing to forget."""


_SINGLE: Final = frozenset(
    f"{name}{end}" for name in ("get", "set", "delete", "delete_dir") for end in ("", "_sync")
)
_STAGING: Final = frozenset(("stage_sync", "apply_sync"))


@cache
def _class_stages(cls: type) -> bool:
    """Whether nobody below the class that stages sees to single values: what they do must not be passed by."""
    own = next((base for base in cls.__mro__ if not _STAGING.isdisjoint(vars(base))), None)
    if own is None:
        return False
    below = cls.__mro__[: cls.__mro__.index(own)]
    return class_is_synchronous(cls) and all(_SINGLE.isdisjoint(vars(base)) for base in below)


def stages(store: object) -> bool:
    """Whether a store can write many values aside and publish them in one step.

    That is done by plain methods: one whose coroutines are overridden, whichever, is asked for each value.

    Parameters
    ----------
    store

    Examples
    --------
    >>> from zarr.storage import LocalStore
    >>> stages(LocalStore("data")), stages(object())
    (True, False)
    """
    if not _class_stages(cast("Any", type(store))):
        return False
    return OWN_NAMES.isdisjoint(getattr(store, "__dict__", ()))
