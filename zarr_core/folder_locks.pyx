"""Locks on names in a folder that keep out other processes, with no file made: see ``docs/design/locks.md``.

A name has two bytes in the space of ranges of the folder's descriptor. A shared lock is announced on the first byte, an
exclusive lock on both, by a shared range lock. After that the process checks if another one has announced anything in
the folder. If so, it tries to get the byte that excludes its lock: for a shared lock the second, for an exclusive lock
the first. If two processes announce at the same time, at least one of them sees the other. A lock of all names of a
folder, exclusive or shared, has two bytes for that. The system withdraws the announcements of a dead process. All locks
of a process in a folder belong to one descriptor, so they never exclude each other: the process's own table of locks
keeps its threads apart.
"""
cimport cython
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int64_t, uint64_t

from os import fsencode, strerror

cdef extern from "folder_locks.h":
    const bint ZC_FOLDER_LOCKS
    int zc_open_locked_folder(const char* path, uint64_t* device, uint64_t* inode)
    bint zc_is_folder(const char* path, uint64_t device, uint64_t inode)
    int zc_announce(int fd, int64_t start, int64_t length)
    int zc_withdraw(int fd, int64_t start, int64_t length)
    int zc_is_announced(int fd, int64_t start, int64_t length)
    void zc_close_folder(int fd)
    int64_t zc_file_system(const char* path)

HELD = 0
BUSY = 1
REPLACED = 2

cdef int64_t SPACE = <int64_t>1 << 60       # names are spread over so many pairs of bytes
cdef int64_t ALL = <int64_t>1 << 61         # the first byte of all names of the folder together
cdef int TRIES = 3                          # so often who shares many names tries to share all of the folder
cdef int64_t ALONE = <int64_t>1 << 32       # counts one who is alone, where one who shares counts 1

# ext2 to ext4, XFS, Btrfs, ZFS, tmpfs, ramfs, overlayfs, F2FS, bcachefs
cdef frozenset TRUSTED = frozenset((
    0xEF53, 0x58465342, 0x9123683E, 0x2FC12FC1, 0x01021994, 0x858458F6, 0x794C7630, 0xF2F52010, 0xCA451A4E,
))


def trusts_locks(str path not None):
    """Return True if the folder's file system keeps locks among all processes that reach it.

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
    cdef bytes text
    cdef const char* letters
    cdef Py_ssize_t i, length
    cdef uint64_t value = 0xCBF29CE484222325
    try:
        letters = PyUnicode_AsUTF8AndSize(name, &length)
    except UnicodeEncodeError:  # names of files need not be UTF-8
        text = name.encode("utf-8", "surrogatepass")
        letters, length = text, len(text)
    for i in range(length):
        value = (value ^ <unsigned char>letters[i]) * <uint64_t>0x100000001B3
    value ^= value >> 33
    value *= <uint64_t>0xFF51AFD7ED558CCD
    value ^= value >> 33
    return 2 * <int64_t>(value & <uint64_t>(SPACE - 1))


cdef int announced_bytes(int64_t count) noexcept:
    """Return the bytes of a name that this number of locks of this process announces."""
    return 0 if count == 0 else 1 if count < ALONE else 2


@cython.no_gc_clear
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
    cdef bytes _name
    cdef uint64_t _device, _inode
    cdef dict _counts  # of each name that is locked, by its first byte: the locks of this process, ALONE or 1 each
    cdef object __weakref__

    def __cinit__(self, str path not None):
        self.fd = -1
        self.path = path
        self._name = fsencode(path)
        self._counts = {}
        cdef int fd = zc_open_locked_folder(self._name, &self._device, &self._inode)
        if fd < 0:
            raise failed(fd, path)
        self.fd = fd

    def __dealloc__(self):
        self.close()

    @property
    def identity(self):
        """Return what no other folder has: device and inode."""
        return self._device, self._inode

    cpdef close(self):
        """Close the folder: all that is locked in it is released, unless a forked process has it open, too."""
        cdef int fd = self.fd
        self.fd = -1
        if fd >= 0:
            zc_close_folder(fd)

    cdef int announce(self, object place, bint shared) except -1:
        """Announce a lock of this process; the system gets only bytes that no other lock here has announced."""
        cdef int64_t had, start = place, stop = start + (1 if shared else 2)
        cdef int error = 0
        with cython.critical_section(self):
            had = self._counts.get(place, 0)
            start += announced_bytes(had)
            if start < stop:
                error = zc_announce(self.fd, start, stop - start)
            if error == 0:
                self._counts[place] = had + (1 if shared else ALONE)
        if error < 0:
            raise failed(error, self.path)
        return 0

    cdef int withdraw(self, object place, bint shared) except -1:
        """Withdraw a lock of this process; the system releases only bytes that no other lock here has announced."""
        cdef int64_t had, left, start = place, stop = start
        with cython.critical_section(self):
            had = self._counts.pop(place)
            left = had - (1 if shared else ALONE)
            if left > 0:
                self._counts[place] = left
            start += announced_bytes(left)
            stop += announced_bytes(had)
            if start < stop and self.fd >= 0:
                if not self._counts:
                    start = stop = 0  # nothing else is announced: to withdraw all bytes is less work for the system
                zc_withdraw(self.fd, start, stop - start)
        return 0

    cdef int is_announced(self, int64_t place, int64_t length) except -1:
        cdef int found = zc_is_announced(self.fd, place, length)
        if found < 0:
            raise failed(found, self.path)
        return found


@cython.no_gc_clear
cdef class FolderLock:
    """A lock on names in a folder; released by ``close``, or when it goes.

    Parameters
    ----------
    folder : Folder
    names : sequence of str, callable or None
        Other threads of this process must not lock the same names exclusively at the same time. For many shared names
        give a function that returns them: it is called only if another process locks another name of the folder. None:
        all names, exclusively.
    shared : bool, default False
        If True, the lock is shared: it keeps out exclusive locks only.
    path : str, default ""
        The name of the lock, for its holder.
    """

    cdef readonly Folder folder
    cdef readonly bint shared, held
    cdef readonly object path
    cdef object _names
    cdef list _places
    cdef Py_ssize_t _announced  # so many of these places are announced
    cdef int _tries

    def __cinit__(self, Folder folder not None, names, bint shared=False, object path=""):
        self.folder = folder
        self.shared = shared
        self.path = path
        if names is None:
            self._places = [ALL]
        elif callable(names):
            self._names = names
            self._tries = TRIES
        else:
            self._places = [bytes_of(<str?>name) for name in names]

    def __dealloc__(self):
        self.close()

    cpdef int try_acquire(self) except -1:
        """Acquire the lock if no other process has it.

        Returns
        -------
        int
            ``HELD``; ``BUSY`` if another process has it; ``REPLACED`` if the path of the folder now names another
            folder, or none: then the lock must be made anew.

        Raises
        ------
        OSError
            If the file system keeps no locks, or no more of them.
        """
        cdef Folder folder = self.folder
        if self.held:
            return 0
        if folder.fd < 0:
            return 2
        cdef int state = 1
        try:
            state = self._try_shared() if self.shared else self._try_alone()
            if state == 0 and not zc_is_folder(folder._name, folder._device, folder._inode):
                state = 2
            self.held = state == 0
        finally:
            if state == 2 or (state == 1 and (self.shared or len(self._places) > 1)):
                self.close()
        return state

    cdef int _announce(self) except -1:
        for place in self._places:
            self.folder.announce(place, self.shared)
            self._announced += 1
        return 0

    cdef int _try_alone(self) except -1:
        cdef Folder folder = self.folder
        cdef int64_t place
        if self._announced == 0:
            self._announce()
        if not folder.is_announced(0, ALL + 2):
            return 0  # nobody else has locked anything in the folder
        # Announcements stay while holders of shared locks go on: no others begin. Two processes that want an exclusive
        # lock both withdraw, and try again.
        for place in (*self._places, ALL):
            if folder.is_announced(place, 1):
                if folder.is_announced(place + 1, 1):
                    self.close()
                return 1
        return self._places[0] == ALL and folder.is_announced(0, 2 * SPACE)

    cdef int _try_shared(self) except -1:
        cdef Folder folder = self.folder
        cdef int64_t place
        if self._tries:
            self._tries -= 1  # then the names one by one: others may lock names of the folder all the time
            self._places = [ALL]
        elif self._names is not None:
            self._places = [bytes_of(<str?>name) for name in self._names()]
        self._announce()
        if not folder.is_announced(0, ALL + 2):
            return 0
        for place in (*self._places, ALL):
            if folder.is_announced(place + 1, 1):
                return 1
        return self._places[0] == ALL and folder.is_announced(0, 2 * SPACE)

    cpdef close(self):
        """Release the lock, or give it up; do nothing if that is done, or in a forked child."""
        self.held = False
        while self._announced > 0:
            self._announced -= 1
            self.folder.withdraw(self._places[self._announced], self.shared)

    def release_with(self, dict queues not None, str name not None):
        """Release the lock and remove a name from the table of this process, in one step that no signal interrupts."""
        self.close()
        return queues.pop(name, ())


def try_lock(dict opened not None, str folder not None, str name not None, str path not None):
    """Lock one name alone in a folder that is open, if no other process has locked it.

    Parameters
    ----------
    opened : dict of str to Folder
    folder : str
        The path of the folder, as it is named in ``opened``.
    name : str
    path : str
        The name of the lock, for its holder.

    Returns
    -------
    FolderLock or None
        None if the folder is not open, or if the lock is not held after one try, for whatever reason.
    """
    cdef Folder found = opened.get(folder)
    if found is None:
        return None
    cdef FolderLock lock = FolderLock(found, (name,), False, path)
    try:
        if lock.try_acquire() == 0:
            return lock
    except OSError:
        pass
    lock.close()
    return None
