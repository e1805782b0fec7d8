"""Access the chunk files of one root folder: find them by key, read and replace them by plain file calls.

Consecutive chunks mostly share a folder, so its descriptor is kept: a look-up then resolves one name.
"""
from libc.errno cimport EEXIST, EINVAL, ENAMETOOLONG, ENOENT, ENOMEM
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memset, strrchr, strstr

from zarr_core.keys cimport KeyFormat, format_key, key_capacity

cdef enum:
    TEMPORARY_EXTRA = 64        # what zc_temporary_name adds to a name
    REMOVED_AT_ONCE = 10_000    # entries of folders, a few hundredths of a second
    MAX_FOLDERS = 64            # one in another; each needs a descriptor


cdef int folder_open(Folder* f, const char* root, KeyFormat keys, int ndim, bint durable) noexcept nogil:
    memset(f, 0, sizeof(Folder))
    f.parent = -1
    f.parent_length = -1
    f.durable = durable
    f.root = zc_open_folder(-1, root)
    if f.root < 0:
        return f.root
    f.capacity = key_capacity(keys, ndim) + 1
    f.memory = <char*>malloc(3 * f.capacity + TEMPORARY_EXTRA)
    f.key = f.memory
    if f.memory == NULL:
        zc_close(f.root)
        f.root = -1
        return -ENOMEM
    f.previous = f.key + f.capacity
    f.temporary = f.previous + f.capacity
    return 0


cdef int leave_parent(Folder* f) noexcept nogil:
    cdef int code = 0
    if f.parent >= 0:
        if f.dirty and f.durable:
            code = zc_sync(f.parent)
        zc_close(f.parent)
    f.dirty = False
    f.parent = -1
    return code


cdef int folder_close(Folder* f) noexcept nogil:
    cdef int code = leave_parent(f)
    if f.root >= 0:
        zc_close(f.root)
    free(f.memory)
    f.root = -1
    f.memory = NULL
    return code


cdef int folder_select(Folder* f, KeyFormat keys, const int64_t* coords, int ndim) noexcept nogil:
    """Format the key; return 1 if it is in the same folder as the one before, 0 if not, -errno if it is impossible."""
    cdef char* kept = f.previous
    cdef char* slash
    cdef int64_t length, before = f.parent_length
    cdef int code = 0
    f.previous = f.key
    f.key = kept
    length = format_key(keys, coords, ndim, f.key, f.capacity - 1)
    if length <= 0:
        f.parent_length = -1
        leave_parent(f)
        return -ENAMETOOLONG if length < 0 else -EINVAL
    f.key[length] = 0
    f.key_length = length
    if memchr(f.key, 0, length) != NULL:
        f.parent_length = -1
        leave_parent(f)
        return -EINVAL
    slash = strrchr(f.key, c'/')
    f.parent_length = slash - f.key if slash != NULL else 0
    if before == f.parent_length and memcmp(f.key, f.previous, before) == 0:
        return 1
    code = leave_parent(f)
    if code == 0 and leads_outside(f.key):
        f.parent_length = -1
        return -EINVAL
    return code


cdef bint leads_outside(const char* key) noexcept nogil:
    """Return True if a key would leave the root, or be resolved from another place."""
    return key[0] == c'/' or memcmp(key, b"../", 3) == 0 or strstr(key, b"/../") != NULL


cdef char* base_name(Folder* f) noexcept nogil:
    return f.key + f.parent_length + 1 if f.parent_length else f.key


cdef int folder_enter(Folder* f, bint make) noexcept nogil:
    """Open the key's folder; create it first if it is missing and ``make`` is set."""
    cdef int code
    if f.parent >= 0:
        return 0
    if f.parent_length == 0:
        f.parent = zc_open_folder(f.root, ".")
        return f.parent if f.parent < 0 else 0
    f.key[f.parent_length] = 0
    f.parent = zc_open_folder(f.root, f.key)
    if f.parent == -ENOENT and make:
        code = zc_make_folders(f.root, f.key, f.durable)
        f.parent = zc_open_folder(f.root, f.key) if code == 0 else code
    f.key[f.parent_length] = c'/'
    code = f.parent if f.parent < 0 else 0
    if code < 0:
        f.parent = -1
    return code


cdef int folder_read(Folder* f, int64_t* size) noexcept nogil:
    cdef zc_stamp stamp
    cdef int fd = folder_read_stamped(f, &stamp)
    if fd >= 0:
        size[0] = stamp.nbytes
    return fd


cdef int folder_read_stamped(Folder* f, zc_stamp* stamp) noexcept nogil:
    cdef int fd
    cdef int64_t size
    if f.parent >= 0:
        fd = zc_open_read(f.parent, base_name(f))
    else:
        fd = zc_open_read(f.root, f.key)
    if fd < 0:
        return fd
    size = zc_regular_stamp(fd, stamp)
    if size < 0:
        zc_close(fd)
        return <int>size
    return fd


cdef int folder_begin(Folder* f) noexcept nogil:
    cdef int fd, code, attempt
    code = folder_enter(f, True)
    if code < 0:
        return code
    for attempt in range(16):
        # A name left by a dead process with the same id is passed over.
        code = zc_temporary_name(f.temporary, f.capacity + TEMPORARY_EXTRA, base_name(f))
        if code < 0:
            return code
        fd = zc_create(f.parent, f.temporary)
        if fd == -ENOENT and attempt == 0:
            # Another program deleted the folder after it was opened.
            leave_parent(f)
            code = folder_enter(f, True)
            if code < 0:
                return code
        elif fd != -EEXIST:
            return fd
    return -EEXIST


cdef void folder_abandon(Folder* f, int fd) noexcept nogil:
    zc_close(fd)
    zc_unlink(f.parent, f.temporary)


cdef int folder_commit(Folder* f, int fd) noexcept nogil:
    cdef int code = 0
    if f.durable:
        code = zc_sync(fd)
    if code == 0:
        code = zc_close(fd)
    else:
        zc_close(fd)
    if code == 0:
        code = zc_rename(f.parent, f.temporary, base_name(f))
    if code < 0:
        zc_unlink(f.parent, f.temporary)
        return code
    f.dirty = True
    return 0


cdef int folder_write(Folder* f, const char* data, int64_t n) noexcept nogil:
    cdef int code, fd = folder_begin(f)
    if fd < 0:
        return fd
    code = zc_write_all(fd, data, n)
    if code < 0:
        folder_abandon(f, fd)
        return code
    return folder_commit(f, fd)


cdef int folder_delete(Folder* f) noexcept nogil:
    cdef int code
    if f.durable and folder_enter(f, False) == 0:
        code = zc_unlink(f.parent, base_name(f))
        f.dirty = True
    elif f.parent >= 0:
        code = zc_unlink(f.parent, base_name(f))
    else:
        code = zc_unlink(f.root, f.key)
    return 0 if code == -ENOENT else code


def exchange_files(const char* one, const char* other) -> int:
    """Lets two names of one file system change places in one step; 0, or minus the error number."""
    cdef int code
    with nogil:
        code = zc_exchange(one, other)
    return code


def remove_folder(const char* path) -> int:
    """Removes a folder and all in it, without following links.

    Returns
    -------
    int
        0; 1 if there is more to remove: call it again; or minus the error number.
    """
    cdef long left = REMOVED_AT_ONCE
    cdef int code
    with nogil:
        code = zc_remove_folder(-1, path, MAX_FOLDERS, &left)
    return code
