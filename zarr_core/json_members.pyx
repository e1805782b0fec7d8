"""Find the members of one object in a JSON text, so that one is changed and the others stay as they are."""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

cdef extern from "json_members.h" nogil:
    ctypedef struct ZcMembers:
        const char* names[4]
        int64_t lengths[4]
        int levels
        const char* base
        const char* end
        int64_t* places
        int64_t count
        int64_t opening
        int64_t closing
        int plain
        int ordered
        int memory
    int zc_find_members(ZcMembers* all)


def find_json_members(bytes raw not None, tuple way not None):
    """Find where the members of one object lie.

    Parameters
    ----------
    raw : bytes
        A JSON text, UTF-8.
    way : tuple of bytes
        The names of the objects from the outermost one down to that object, as they are written; at most 4.

    Returns
    -------
    tuple or None
        The place after the opening brace; the place of the closing brace; an ``int64`` array of shape
        ``(members, 3)`` with the places where each name begins (without quotes), where it ends, and where its value
        ends; True if all names are plain ASCII without escapes; True if plain names are in tree order, each once.
        None if the text is no such object, or has no member of that name.

    Raises
    ------
    ValueError
        If there are more than 4 names.

    Examples
    --------
    >>> opening, closing, places, plain, ordered = find_json_members(b'{"a": {"x": 1, "y": []}}', (b"a",))
    >>> opening, closing, places.tolist(), plain, ordered
    (7, 22, [[8, 9, 13], [16, 17, 21]], True, True)
    >>> find_json_members(b'{"a": 1}', (b"a",)) is None
    True
    """
    cdef ZcMembers members
    cdef int found, level
    cdef int64_t[:, ::1] view
    if len(way) > 4:
        raise ValueError(f"at most 4 names can be followed, got {len(way)}")
    memset(&members, 0, sizeof(members))
    for level in range(<int>len(way)):
        members.names[level] = PyBytes_AS_STRING(<bytes?>way[level])
        members.lengths[level] = PyBytes_GET_SIZE(way[level])
    members.levels = <int>len(way)
    members.base = PyBytes_AS_STRING(raw)
    members.end = members.base + PyBytes_GET_SIZE(raw)
    try:
        with nogil:
            found = zc_find_members(&members)
        if not members.memory:
            raise MemoryError()
        if not found:
            return None
        places = np.empty((members.count, 3), dtype=np.int64)
        if members.count:
            view = places
            memcpy(&view[0, 0], members.places, members.count * 3 * sizeof(int64_t))
    finally:
        free(members.places)
    return members.opening, members.closing, places, bool(members.plain), bool(members.plain and members.ordered)
