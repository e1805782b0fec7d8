# Chunk files of one root folder: found by key, read and replaced with plain file calls.
from libc.stdint cimport int64_t

from zarr_core.keys cimport KeyFormat
from zarr_core.streams cimport Scratch


cdef extern from "files.h" nogil:
    ctypedef struct zc_stamp:
        int64_t device
        int64_t inode
        int64_t nbytes
        int64_t modified_ns
        int64_t changed_ns
    int64_t zc_regular_stamp(int fd, zc_stamp* stamp)
    int zc_open_folder(int base, const char* path)
    int zc_open_read(int base, const char* path)
    int zc_is_absent(const char* path)
    int zc_create(int base, const char* path)
    int64_t zc_regular_size(int fd)
    int64_t zc_read_at(int fd, char* to, int64_t n, int64_t at)
    int zc_write_all(int fd, const char* data, int64_t n)
    int zc_write_at(int fd, const char* data, int64_t n, int64_t at)
    int zc_sync(int fd)
    int zc_close(int fd)
    int zc_rename(int base, const char* source, const char* target)
    int zc_unlink(int base, const char* path)
    int zc_make_folders(int base, char* path, int durable)
    int zc_exchange(const char* one, const char* other)
    int zc_has_no_links(char* path)
    int zc_temporary_name(char* to, size_t size, const char* name)
    int zc_remove_folder(int base, const char* name, int depth, long* left)
    int zc_put_file(char* path, char* partial, size_t room, const char* data, int64_t n, int exclusive)


# One thread's view of a root folder, with the folder of the last key kept open.
cdef struct Folder:
    int root
    int parent              # descriptor of the last key's folder, -1: none
    int64_t parent_length   # of the last key's folder name; 0: the root itself
    int64_t key_length
    char* memory            # what the three names below lie in
    char* key               # the last key, NUL-terminated
    char* previous
    char* temporary         # name of the file being written, beside the key
    int64_t capacity
    bint durable            # sync files and folders
    bint dirty              # the parent folder has changes to sync


cdef int folder_open(Folder* f, const char* root, KeyFormat keys, int ndim, bint durable) noexcept nogil
cdef int folder_close(Folder* f) noexcept nogil
cdef int folder_select(Folder* f, KeyFormat keys, const int64_t* coords, int ndim) noexcept nogil
# Opens the key's folder and keeps it open until a key lies elsewhere; worth it once a second key lies there.
cdef int folder_enter(Folder* f, bint make) noexcept nogil
# A descriptor of the selected key's regular file and its size, or -errno.
cdef int folder_read(Folder* f, int64_t* size) noexcept nogil
# The same with all fields that show a change of the file.
cdef int folder_read_stamped(Folder* f, zc_stamp* stamp) noexcept nogil
# Writing: begin gives a descriptor of a hidden file; commit puts it in the key's place, abandon removes it.
cdef int folder_begin(Folder* f) noexcept nogil
cdef int folder_commit(Folder* f, int fd) noexcept nogil
cdef void folder_abandon(Folder* f, int fd) noexcept nogil
cdef int folder_write(Folder* f, const char* data, int64_t n) noexcept nogil
cdef int folder_delete(Folder* f) noexcept nogil
