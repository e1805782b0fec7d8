# The blosc container (format 2), walked here: every offset and length is checked before it is followed.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from zarr_core.streams cimport Context


cdef enum:
    BLOSC_HEADER = 16
    BLOSC_LZ4 = 1           # what BloscFrame.format is
    BLOSC_PLANES = 9        # of the widest items whose bytes are put together from where they lie, and what is left over


cdef struct BloscFrame:
    const uint8_t* data
    int64_t n               # bytes of the frame
    int64_t nbytes          # decoded size
    int64_t blocksize
    int64_t nblocks
    int typesize
    int shuffle             # 0 none, 1 bytes, 2 bits
    int format              # how the streams inside are compressed
    bint stored             # not compressed at all
    bint split              # one stream per byte of the item


cdef inline int64_t load32(const uint8_t* p) noexcept nogil:
    """A signed little-endian number: the container's sizes are signed, and negative ones are damage."""
    return <int32_t>(<uint32_t>p[0] | <uint32_t>p[1] << 8 | <uint32_t>p[2] << 16 | <uint32_t>p[3] << 24)


cdef inline int64_t block_size(const BloscFrame* f, int64_t block) noexcept nogil:
    """Return how many bytes a block decodes to: the last one may be shorter."""
    return min(f.blocksize, f.nbytes - block * f.blocksize)


# 0, or DAMAGED.
cdef int64_t blosc_open(BloscFrame* f, const char* src, int64_t n) noexcept nogil
# The places where the streams of a block of some decoded size begin, and their number; or DAMAGED.
cdef int64_t find_streams(const BloscFrame* f, int64_t block, int64_t size, int64_t* count) noexcept nogil
# The range of the streams of a block, as the table of offsets has it: its end is that of the frame, or where the
# next block begins; or DAMAGED. Looks at the header and the table and at no stream.
cdef int64_t blosc_block_span(const BloscFrame* f, int64_t block, int64_t* begin) noexcept nogil
# One stream of a frame's format: how many bytes it made, or below 0.
cdef int64_t decode_stream(
    Context* c, int format, const uint8_t* src, int64_t n, uint8_t* dst, int64_t room,
) noexcept nogil
# Decodes blocks first .. last - 1, one behind the other, from dst on.
cdef int64_t blosc_blocks(Context* c, const BloscFrame* f, int64_t first, int64_t last, char* dst) noexcept nogil
# Decodes one block of a byte-shuffled frame whose items are 2, 4 or 8 bytes wide: planes[k] is where byte k of all its
# items lies, in the frame or in c.block; planes[typesize]: the bytes that make no whole item. How many items, or below 0.
cdef int64_t blosc_block_planes(Context* c, const BloscFrame* f, int64_t block, const uint8_t** planes) noexcept nogil
# Decodes a byte-shuffled frame without unshuffling it: byte k of all items from dst + k * (nbytes / typesize) on.
# 0, or below where it is damaged or of another kind.
cdef int64_t blosc_planes(Context* c, const BloscFrame* f, char* dst) noexcept nogil
cdef int64_t blosc_decode(Context* c, const char* src, int64_t n, char* dst, int64_t room) noexcept nogil
