from collections.abc import Callable, Sequence
from typing import Any

HELD: int
BUSY: int
REPLACED: int

def trusts_locks(path: str) -> bool: ...
def try_lock(opened: dict[str, Folder], folder: str, name: str, path: str) -> FolderLock | None: ...

class Folder:
    path: str
    fd: int
    identity: tuple[int, int]

    def __init__(self, path: str) -> None: ...
    def close(self) -> None: ...

class FolderLock:
    folder: Folder
    shared: bool
    held: bool
    path: str

    def __init__(
        self,
        folder: Folder,
        names: Sequence[str] | Callable[[], Sequence[str]] | None,
        shared: bool = False,
        path: str = "",
    ) -> None: ...
    def try_acquire(self) -> int: ...
    def close(self) -> None: ...
    def release_with(self, queues: dict[str, list[Any]], name: str) -> Any: ...
