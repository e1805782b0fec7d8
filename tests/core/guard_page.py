"""Memory that ends where reading on crashes: a page behind it may not be touched."""

from __future__ import annotations

import ctypes
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROT_NONE = 0


class GuardedMemory:
    """Room for payloads that end at a forbidden page; plain memory where the system has no ``mprotect``."""

    def __init__(self, room: int = 1 << 20) -> None:
        self.room = room
        self._map = mmap.mmap(-1, room + mmap.PAGESIZE)
        self._bytes = np.frombuffer(self._map, np.uint8)
        if os.name == "posix":
            address = ctypes.c_void_p(self._bytes.ctypes.data + room)
            assert ctypes.CDLL(None).mprotect(address, mmap.PAGESIZE, PROT_NONE) == 0

    def last(self, nbytes: int) -> NDArray[np.uint8]:
        """The last bytes before the forbidden page."""
        return self._bytes[self.room - nbytes : self.room]

    def hold(self, payload: Any) -> NDArray[np.uint8]:
        """A payload, moved so that it ends at the forbidden page."""
        data = np.frombuffer(payload, np.uint8)
        place = self.last(len(data))
        place[:] = data
        return place
