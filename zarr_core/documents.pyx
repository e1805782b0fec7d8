"""Read and write whole files by their paths: one open, one check of the size and one read; written aside and renamed.

A missing file or an object in the way raises no exception: the result reports it.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.errno cimport ENAMETOOLONG, ENOENT
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from zarr_core.files cimport (
    zc_close,
    zc_has_no_links,
    zc_is_absent,
    zc_open_read,
    zc_put_file,
    zc_read_at,
    zc_regular_size,
)

cdef extern from "Python.h":
    bytes PyUnicode_EncodeFSDefault(object text)
    bint PyUnicode_CheckExact(object text)
    bint PyUnicode_IS_ASCII(object text)
    const unsigned char* PyUnicode_1BYTE_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)

cdef enum:
    SMALL = 16384       # files up to this size are read into the stack: the interpreter is left once a file
    LONGEST = 4096      # longer paths are left to the caller


def is_plain_key(key):
    """Return True if a key needs no further check before it names a file; most are plain.

    A plain key has ASCII characters only, no backslash and no NUL, and none of its parts is empty or begins with a dot.

    Parameters
    ----------
    key : object
        False for anything but a ``str``.

    Examples
    --------
    >>> is_plain_key("a/c/0/1"), is_plain_key("a//b"), is_plain_key("../a"), is_plain_key(".zarray")
    (True, False, False, False)
    """
    if not PyUnicode_CheckExact(key) or not PyUnicode_IS_ASCII(key):
        return False
    cdef const unsigned char* letters = PyUnicode_1BYTE_DATA(key)
    cdef Py_ssize_t i, length = PyUnicode_GET_LENGTH(key)
    cdef unsigned char letter, before = c"/"
    for i in range(length):
        letter = letters[i]
        if letter == 0 or letter == c"\\" or (before == c"/" and (letter == c"/" or letter == c".")):
            return False
        before = letter
    return before != c"/"


cdef object read_one(bytes path, bint doubtful=False):
    """The bytes of a file; None if there is none, and a negative error number where it cannot be read.

    If it probably does not exist, that is checked first.
    """
    cdef char room[SMALL]
    cdef const char* name = path
    cdef char* to = room
    cdef int64_t size = 0, got = 0
    cdef int fd
    cdef object data
    with nogil:
        fd = -ENOENT if doubtful and zc_is_absent(name) else zc_open_read(-1, name)
        if fd >= 0:
            size = zc_regular_size(fd)
            if 0 <= size <= SMALL:
                got = zc_read_at(fd, to, size, 0)
            if size <= SMALL:
                zc_close(fd)
    if fd < 0:
        return None if fd == -ENOENT else fd
    if size < 0:
        return size
    if size <= SMALL:
        return got if got < 0 else PyBytes_FromStringAndSize(room, got)
    try:
        data = PyBytes_FromStringAndSize(NULL, size)
        to = PyBytes_AS_STRING(data)
        with nogil:
            got = zc_read_at(fd, to, size, 0)
    finally:
        zc_close(fd)
    if got < 0:
        return got
    return data if got == size else data[:got]


def read_file(str path not None):
    """Read a whole file.

    Parameters
    ----------
    path : str

    Returns
    -------
    bytes, None or int
        None if there is no such file; a negative ``errno`` if it cannot be read (a folder, a pipe, a file without
        permission): the caller then takes a way that explains the error.

    Raises
    ------
    ValueError
        If the path has a NUL.

    Examples
    --------
    >>> read_file("/no/such/file") is None
    True
    """
    return read_one(encoded(path))


def read_files(str base not None, list names not None):
    """Read whole files below one folder, in one call.

    Parameters
    ----------
    base : str
        The common beginning of all paths, with the slash.
    names : list of str

    Returns
    -------
    list of bytes, None or int
        As for ``read_file``, in the order of the names.

    Raises
    ------
    ValueError
        If a path has a NUL.

    Examples
    --------
    >>> read_files("/no/such/", ["a", "b"])
    [None, None]
    """
    cdef list found = []
    cdef bytes path, folder, beside = None
    for name in names:
        path = encoded(base + <str?>name)
        folder = path[:path.rfind(b"/") + 1]
        # Names that exclude each other: beside a document that was found, others are rare.
        data = read_one(path, folder == beside)
        if type(data) is bytes:
            beside = folder
        found.append(data)
    return found


def put_file(str path not None, object data not None, bint exclusive=False):
    """Put a value in its place in one step: written to a hidden file beside it, with the folders that it needs.

    Parameters
    ----------
    path : str
    data : buffer of bytes, contiguous
    exclusive : bool
        Keep a file that is there.

    Returns
    -------
    int
        0 if the value was stored, 1 if a file was there already (only with ``exclusive``), or a negative ``errno``:
        then nothing was changed, and the caller takes a way that explains the error.

    Raises
    ------
    ValueError
        If the path has a NUL.
    BufferError, TypeError
        If ``data`` is no contiguous buffer.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a/b"
    >>> put_file(path, b"one", exclusive=True), put_file(path, b"two", exclusive=True)
    (0, 1)
    >>> read_file(path)
    b'one'
    """
    cdef bytes name = encoded(path)
    cdef char place[LONGEST]
    cdef char partial[LONGEST]
    cdef int64_t length = len(name)
    cdef int code
    cdef Py_buffer value
    if length >= LONGEST:
        return -ENAMETOOLONG
    memcpy(place, <const char*>name, length + 1)
    PyObject_GetBuffer(data, &value, PyBUF_SIMPLE)
    try:
        with nogil:
            code = zc_put_file(place, partial, LONGEST, <const char*>value.buf, value.len, exclusive)
    finally:
        PyBuffer_Release(&value)
    return code


def has_no_links(str path not None) -> bool:
    """Return True if a path stays the same when its links are followed.

    Parameters
    ----------
    path : str

    Returns
    -------
    bool
        True only for an absolute path of which no part is a link, ``.``, ``..`` or empty; what is not there is no
        link. False also if it is unknown.

    Raises
    ------
    ValueError
        If the path has a NUL.

    Examples
    --------
    >>> has_no_links("/no/such/file"), has_no_links("file")
    (True, False)
    """
    cdef bytes name = encoded(path)
    cdef char place[LONGEST]
    cdef int64_t length = len(name)
    cdef bint found
    if length >= LONGEST:
        return False
    memcpy(place, <const char*>name, length + 1)
    with nogil:
        found = zc_has_no_links(place)
    return found


cdef bytes encoded(str path):
    cdef bytes name = PyUnicode_EncodeFSDefault(path)
    if b"\0" in name:
        raise ValueError(f"a path must not have a NUL, got {path!r}")
    return name
