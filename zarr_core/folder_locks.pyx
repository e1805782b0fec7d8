"""Locks on names in a folder that keep out other processes, with no file made: see ``docs/design/locks.md``.

A name has two bytes in the space of ranges of the folder's descriptor. Who shares it announces a lock on the first,
who locks it alone on both: a shared range lock. Then he looks whether somebody else has announced what excludes it: the
one who shares looks at the second byte, the other at the first. Of two who announce at the same time at least one sees
the other. Who shares many names announces that on one byte of its own. The system withdraws what a dead process
has announced. All locks that a process has in a folder belong to one descriptor, so they never exclude each other: the
threads of a process are kept apart by its own table of locks.
"""
from libc.stdint cimport int64_t, uint64_t

from os import fsencode, strerror

cdef extern from "folder_locks.h":
    const bint ZC_FOLDER_LOCKS
    int zc_open_locked_folder(const char* path)
    bint zc_is_removed(int fd)
    int zc_announce(int fd, int64_t start, int64_t length)
    int zc_withdraw(int fd, int64_t start, int64_t length)
    int zc_is_announced(int fd, int64_t start, int64_t length)
    void zc_close_folder(int fd)
    int64_t zc_file_system(const char* path)

HELD = 0
BUSY = 1
REPLACED = 2

cdef int64_t SPACE = <int64_t>1 << 60       # names are spread over so many pairs of bytes
cdef int64_t ALL_SHARED = <int64_t>1 << 61  # the byte of who shares all names of the folder
cdef int TRIES = 3                          # so often who shares many names tries to share all of the folder

# ext2 to ext4, XFS, Btrfs, ZFS, tmpfs, ramfs, overlayfs, F2FS, bcachefs
cdef frozenset TRUSTED = frozenset((
    0xEF53, 0x58465342, 0x9123683E, 0x2FC12FC1, 0x01021994, 0x858458F6, 0x794C7630, 0xF2F52010, 0xCA451A4E,
))


def trusts_locks(str path not None):
    """Return whether the folder's file system keeps locks among all processes that reach it.

    Parameters
    ----------
    path : str
        Of a folder; if it is not there, the nearest one above it counts.

    Returns
    -------
    bool
        True for local file systems of Linux. False for network file systems, for others that are not known, and on
        other systems.

    Examples
    --------
    >>> trusts_locks("/proc")
    False
    """
    cdef bytes name = fsencode(path)
    cdef int64_t kind = zc_file_system(name)
    while ZC_FOLDER_LOCKS and kind < 0 and len(name) > 1:
        name = name[:name.rfind(b"/")] or b"/"
        kind = zc_file_system(name)
    return kind in TRUSTED


cdef object failed(int error, str path):
    return OSError(-error, strerror(-error), path)


cdef int64_t bytes_of(str name) except -1:
    """Return the first byte of a name: 64 bits by FNV-1a, mixed, of which 60 are kept."""
    cdef bytes text = name.encode("utf-8", "surrogatepass")  # names of files need not be UTF-8
    cdef const unsigned char* letters = text
    cdef uint64_t value = 0xCBF29CE484222325
    cdef Py_ssize_t i
    for i in range(len(text)):
        value = (value ^ letters[i]) * <uint64_t>0x100000001B3
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    return 2 * <int64_t>(value & <uint64_t>(SPACE - 1))


cdef class Folder:
    """An open folder in which names are locked.

    Parameters
    ----------
    path : str
        Absolute.

    Raises
    ------
    OSError
        If it cannot be opened, or where folders have no locks (``ENOSYS``).
    """

    cdef readonly str path
    cdef readonly int fd
    cdef dict _counts  # of the bytes that several share
    cdef object __weakref__

    def __cinit__(self, str path not None):
        self.fd = -1
        self.path = path
        self._counts = {}
        cdef bytes name = fsencode(path)
        cdef int fd = zc_open_locked_folder(name)
        if fd < 0:
            raise failed(fd, path)
        self.fd = fd

    def __dealloc__(self):
        self.close()

    cpdef close(self):
        """Close the folder: all that is locked in it is released, unless a forked process has it open, too."""
        cdef int fd = self.fd
        self.fd = -1
        if fd >= 0:
            zc_close_folder(fd)

    cdef int share(self, int64_t place) except -1:
        cdef int error
        if place not in self._counts:
            error = zc_announce(self.fd, place, 1)
            if error < 0:
                raise failed(error, self.path)
        self._counts[place] = self._counts.get(place, 0) + 1
        return 0

    cdef int unshare(self, int64_t place) except -1:
        cdef int left = self._counts.get(place, 0) - 1
        if left > 0:
            self._counts[place] = left
        elif left == 0:
            del self._counts[place]
            zc_withdraw(self.fd, place, 1)
        return 0

    cdef int is_announced(self, int64_t place, int64_t length) except -1:
        cdef int found = zc_is_announced(self.fd, place, length)
        if found < 0:
            raise failed(found, self.path)
        return found


cdef class FolderLock:
    """A lock on names in a folder; released by ``close``, or when it goes.

    Parameters
    ----------
    folder : Folder
    names : sequence of str, or callable
        Other threads of this process must not lock the same names alone at the same time. Who shares many names gives
        what returns them: they are asked for only where somebody locks another name of the folder.
    shared : bool, default False
        Whether others may share the names, so that nobody locks them alone.
    path : str, default ""
        What the lock stands for, for its holder.
    """

    cdef readonly Folder folder
    cdef readonly bint shared, held
    cdef readonly object path
    cdef object _names
    cdef list _places
    cdef list _announced
    cdef int _tries

    def __cinit__(self, Folder folder not None, names, bint shared=False, object path=""):
        self.folder = folder
        self.shared = shared
        self.path = path
        self._announced = []
        self._names = None
        self._tries = 0
        if callable(names):
            self._names = names
            self._tries = TRIES
        else:
            self._places = [bytes_of(<str?>name) for name in names]

    def __dealloc__(self):
        if self.folder is not None and self._announced:
            self.close()

    cpdef int try_acquire(self) except -1:
        """Acquire the lock if nobody is in the way.

        Returns
        -------
        int
            ``HELD``; ``BUSY`` where somebody is in the way; ``REPLACED`` where the folder was removed
            or is closed here: the lock has to be made anew, in the folder that has the path now.

        Raises
        ------
        OSError
            If the file system keeps no locks, or no more of them.
        """
        if self.held:
            return 0
        if self.folder.fd < 0:
            return 2
        cdef int state = 1
        try:
            state = self._try_shared() if self.shared else self._try_alone()
            if state == 0 and zc_is_removed(self.folder.fd):
                state = 2
            self.held = state == 0
        finally:
            if state == 2 or (state == 1 and (self.shared or len(self._places) > 1)):
                self.close()
        return state

    cdef int _try_alone(self) except -1:
        cdef Folder folder = self.folder
        cdef int64_t place
        cdef int error
        for place in self._places if not self._announced else ():
            error = zc_announce(folder.fd, place, 2)
            if error < 0:
                raise failed(error, folder.path)
            self._announced.append(place)
        for place in self._places:
            if folder.is_announced(place, 1):
                # Who shares the name goes on, and no others begin; of two who want it alone, each tries again.
                if folder.is_announced(place + 1, 1):
                    self.close()
                return 1
        return folder.is_announced(ALL_SHARED, 1)

    cdef int _try_shared(self) except -1:
        cdef Folder folder = self.folder
        cdef int64_t place
        if self._tries:
            self._tries -= 1  # then the names one by one: somebody may lock others of the folder all the time
            folder.share(ALL_SHARED)
            self._announced.append(ALL_SHARED)
            return folder.is_announced(0, 2 * SPACE)
        if self._places is None:
            self._places = [bytes_of(<str?>name) for name in self._names()]
        for place in self._places:
            folder.share(place)
            self._announced.append(place)
        for place in self._places:
            if folder.is_announced(place + 1, 1):
                return 1
        return 0

    cpdef close(self):
        """Release the lock, or give it up; nothing happens where that was done, or in a forked child."""
        cdef int64_t place
        cdef Folder folder = self.folder
        self.held = False
        while self._announced:
            place = self._announced.pop()
            if folder.fd < 0:
                continue
            if self.shared:
                folder.unshare(place)
            else:
                zc_withdraw(folder.fd, place, 2)

    def release_with(self, dict queues not None, str name not None):
        """Release the lock and take a name out of the table of this process, in one step that no signal divides."""
        self.close()
        return queues.pop(name, ())
