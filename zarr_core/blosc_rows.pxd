# Shuffled blosc frames, put in order where they belong in an array.
from libc.stdint cimport int64_t

from zarr_core.chunks cimport Rows
from zarr_core.streams cimport Context


# Decodes a frame of whole items to rows; reverse: each item's bytes in the other order. 1; 0 where the frame or the
# rows are of another kind, and nothing was written; below 0 where the frame is damaged.
cdef int64_t blosc_to_rows(
    Context* c, const char* src, int64_t n, int64_t nbytes, int width, bint reverse, const Rows* rows,
) noexcept nogil
