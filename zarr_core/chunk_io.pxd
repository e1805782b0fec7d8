# Declarations that reading and writing jobs share: one chunk in, one chunk out, without the GIL.
cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from zarr_core.jobs cimport Job
from zarr_core.plan cimport MAX_RANK, Plan
from zarr_core.program cimport Program
from zarr_core.streams cimport Context


# The outcome of a slot or a shard.
cdef enum:
    TODO = 0
    DONE = 1
    MISSING = 2
    FAILED = 3

cdef enum:
    RELEASE_GIL_BYTES = 64 << 10


# Chunks into an array.
cdef class ChunkReader(Job):
    cdef readonly Plan plan
    cdef readonly Program program
    cdef readonly cnp.ndarray out
    cdef readonly cnp.ndarray fill
    cdef int swap_width                 # the program's; TRUTH where booleans are read
    cdef char* data
    cdef const char* fill_data          # NULL: missing chunks leave the output alone
    cdef Py_ssize_t strides[MAX_RANK]


# Whole chunks out of an array.
cdef class ChunkWriter(Job):
    cdef readonly Plan plan
    cdef readonly Program program
    cdef readonly cnp.ndarray value
    cdef readonly cnp.ndarray fill
    cdef readonly bint skip_filled
    cdef const char* data
    cdef Py_ssize_t strides[MAX_RANK]
    cdef char* pad                      # the fill value as stored
    cdef int nan_width                  # > 0: floats of this width, at least one part of the fill value is NaN
    cdef bint nan_part[2]


cdef int set_reader(ChunkReader r, Plan plan, Program program, object out, object fill) except -1
cdef int set_writer(
    ChunkWriter w, Plan plan, Program program, object value, object fill, bint skip_filled,
) except -1
# The bytes of a slot's whole chunk, or -1 where that overflows.
cdef int64_t chunk_nbytes(Plan plan, Program program, Py_ssize_t slot) noexcept nogil
# DONE or FAILED.
cdef int read_chunk(ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n) noexcept nogil
cdef int read_chunk_file(ChunkReader r, Context* c, Py_ssize_t slot, int fd, int64_t at, int64_t n) noexcept nogil
# A chunk of which several readers want a part: decoded, then put in place for one after the other.
cdef int decode_chunk(
    ChunkReader r, Context* c, Py_ssize_t slot, const char* src, int64_t n, const char** result,
) noexcept nogil
cdef void place_chunk(ChunkReader r, Py_ssize_t slot, const char* chunk) noexcept nogil
# MISSING, after filling the slot's place.
cdef int read_nothing(ChunkReader r, Py_ssize_t slot) noexcept nogil
# DONE, MISSING (all fill, skipped) or FAILED. *result lies in the value, in dst, or in scratch memory of c; dst may be
# NULL and is used by programs without stages, with room for the chunk.
cdef int write_chunk(
    ChunkWriter w, Context* c, Py_ssize_t slot, char* dst, const char** result, int64_t* size,
) noexcept nogil

# Positions first .. first + count - 1 of a job of `total`; IndexError otherwise.
cdef int check_span(int64_t first, int64_t count, int64_t total) except -1
cdef cnp.ndarray checked_indices(str what, object indices, int64_t total)
cdef object pick(const uint8_t* status, int64_t n, const int64_t* names, int wanted)
# Fills in where the bytes of each payload lie; lengths of -1 stand for None. Returns what keeps them alive.
cdef object view_all(object payloads, const char** data, int64_t* sizes, int64_t n)


# Gives up on every place that nobody has settled.
cdef void fail_all(uint8_t* status, int64_t n) noexcept nogil


# The slot (or group) at a position of a job.
cdef inline Py_ssize_t slot_at(const int64_t* slots, int64_t position) noexcept nogil:
    return slots[position] if slots != NULL else position
