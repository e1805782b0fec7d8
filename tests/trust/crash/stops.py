"""Stops a forked child before one of its system calls, all of them counted: the kernel does that for a parent."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from typing import Any

TRACEME, SYSCALL, SET_OPTIONS = 0, 24, 0x4200
SYSCALLS_MARKED, DIES_WITH_PARENT = 1, 0x100000
MARK = 0x80
PATIENCE_SECONDS = 30
REFUSED = 77
"""How a child ends that may not be traced here."""

_ptrace = ctypes.CDLL(None, use_errno=True).ptrace
_ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
_ptrace.restype = ctypes.c_long


class NotTracedError(Exception):
    """The system does not let a process trace its child."""


class Stopped:
    """A child that carries out an action and stands before one of its system calls, or has done all.

    Parameters
    ----------
    action : callable
        Done by the child, which starts no threads.
    place : int
        Before which system call of the action it shall stand; -1: it shall do all.
    """

    def __init__(self, action: Callable[[], Any], place: int) -> None:
        self.seen = 0
        """How many system calls it has begun."""
        self.pid = os.fork()
        if self.pid == 0:
            self._act(action)
        self.ended = not self._run(place)
        """Whether it has done all."""

    def _act(self, action: Callable[[], Any]) -> None:
        try:
            if _ptrace(TRACEME, 0, None, None) != 0:
                os._exit(REFUSED)
            signal.alarm(PATIENCE_SECONDS)
            os.kill(os.getpid(), signal.SIGSTOP)  # here the parent begins to count
            action()
        except BaseException:
            os._exit(1)
        os._exit(0)

    def _wait(self) -> int | None:
        """By which signal the child stands; None where it has ended.

        Raises
        ------
        NotTracedError
            If it could not be traced.
        RuntimeError
            If it ended by an error.
        """
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSTOPPED(status):
            return os.WSTOPSIG(status)
        self.pid = 0
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == REFUSED:
            raise NotTracedError
        if status != 0:
            raise RuntimeError(f"a traced child ended with status {status}")
        return None

    def _run(self, place: int) -> bool:
        """Let it go on to a system call; whether it stands there."""
        if self._wait() != signal.SIGSTOP:
            raise NotTracedError
        _ptrace(SET_OPTIONS, self.pid, None, SYSCALLS_MARKED | DIES_WITH_PARENT)
        number, begins = 0, True
        while True:
            _ptrace(SYSCALL, self.pid, None, number)
            stop = self._wait()
            if stop is None:
                return False
            if stop != signal.SIGTRAP | MARK:
                number = stop  # a signal of its own, which it gets
                continue
            number = 0
            if begins:
                if self.seen == place:
                    return True
                self.seen += 1
            begins = not begins  # the child stands before and after each call

    def kill(self) -> None:
        """Kill it where it stands: the call before which it stands is never made."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
