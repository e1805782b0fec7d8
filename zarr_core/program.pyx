"""A chain of native stages: one call decodes or encodes a chunk, in memory that is kept between calls."""
cimport numpy as cnp
from libc.stdint cimport INT64_MAX, int64_t
from libc.string cimport memcpy, memset

from zarr_core.stages cimport (
    STAGE_CRC32C,
    Stage,
    checksum_strip,
    parse_stage,
    stage_bound,
    stage_decode,
    stage_decode_growing,
    stage_encode,
    stage_encoded_size,
)
from zarr_core.payloads cimport view_bytes
from zarr_core.streams cimport DAMAGED, NO_MEMORY, TOO_SMALL, Context, Scratch, context_free, context_new, context_trim, scratch_reserve

import numpy as np

cnp.import_array()


cdef extern from "atomics.h" nogil:
    void* zc_look(void** place)
    void* zc_swap(void** place, void* value)
    int zc_put(void** place, void* value)


cdef enum:
    RELEASE_GIL_BYTES = 64 << 10
    STORED_SLACK = 1 << 20


# --- contexts

cdef Context* program_take(Program p) noexcept nogil:
    """A context no other thread holds: one from the pool, or a new one."""
    cdef void* c
    cdef int i
    for i in range(POOL):
        if zc_look(&p.pool[i]) != NULL:
            c = zc_swap(&p.pool[i], NULL)
            if c != NULL:
                return <Context*>c
    return context_new()


cdef void program_give(Program p, Context* c) noexcept nogil:
    cdef int i
    if c == NULL:
        return
    context_trim(c)
    for i in range(POOL):
        if zc_put(&p.pool[i], c):
            return
    context_free(c)


# --- sizes

cdef int64_t program_layout(Program p, const int64_t* shape, int ndim, Py_ssize_t* strides) noexcept nogil:
    cdef int64_t step = p.itemsize
    cdef int k, axis
    for k in range(ndim - 1, -1, -1):
        axis = p.permutation[k] if p.rank >= 0 else k
        strides[axis] = step
        if shape[axis] and step > INT64_MAX // shape[axis]:
            return -1
        step *= shape[axis]
    return step


cdef int64_t program_stored_limit(Program p, int64_t nbytes, bint* exact) noexcept nogil:
    cdef int i
    cdef int64_t n = nbytes
    for i in range(p.nstages):
        n = stage_encoded_size(&p.stage[i], n)
        if n < 0:
            exact[0] = False
            return 2 * nbytes + STORED_SLACK
    exact[0] = True
    return n


# --- decoding

cdef inline Scratch* next_scratch(Context* c, const char* current) noexcept nogil:
    """The scratch buffer that does not hold the bytes at hand."""
    if c.ping.data != NULL and c.ping.data <= current <= c.ping.data + c.ping.capacity:
        return &c.pong
    return &c.ping


cdef int64_t decode_known(
    const Stage* s, Context* c, const char** data, int64_t n, int64_t wanted, char* dst,
) noexcept nogil:
    cdef int64_t made
    if dst == NULL:
        dst = scratch_reserve(next_scratch(c, data[0]), wanted)
        if dst == NULL:
            return NO_MEMORY
    made = stage_decode(s, c, data[0], n, dst, wanted)
    if made == NO_MEMORY:
        return NO_MEMORY
    data[0] = dst
    return made if made == wanted else DAMAGED


cdef int64_t decode_unknown(const Stage* s, Context* c, const char** data, int64_t n, int64_t limit) noexcept nogil:
    cdef Scratch* scratch = next_scratch(c, data[0])
    cdef int64_t made = stage_decode_growing(s, c, data[0], n, &scratch.data, &scratch.capacity, limit)
    data[0] = scratch.data
    return made


cdef int64_t program_decode(
    Program p, Context* c, const char* src, int64_t n, int64_t nbytes, char* dst, const char** result,
) noexcept nogil:
    cdef int64_t sizes[MAX_STAGES + 1]
    cdef int i
    sizes[0] = nbytes
    for i in range(p.nstages):
        sizes[i + 1] = stage_encoded_size(&p.stage[i], sizes[i]) if sizes[i] >= 0 else -1
    if sizes[p.nstages] >= 0 and n != sizes[p.nstages]:
        return DAMAGED
    for i in range(p.nstages - 1, -1, -1):
        if p.stage[i].kind == STAGE_CRC32C:
            if not checksum_strip(&p.stage[i], &src, &n):
                return DAMAGED
        elif sizes[i] >= 0:
            n = decode_known(&p.stage[i], c, &src, n, sizes[i], dst if i == 0 else NULL)
        else:
            n = decode_unknown(&p.stage[i], c, &src, n, 2 * nbytes + STORED_SLACK)
        if n < 0:
            return n
        if sizes[i] >= 0 and n != sizes[i]:
            return DAMAGED
    result[0] = src
    return 0


# --- encoding

cdef int64_t program_encode(Program p, Context* c, const char* src, int64_t n, const char** result) noexcept nogil:
    cdef Scratch* scratch
    cdef int64_t bound
    cdef int i
    for i in range(p.nstages):
        scratch = next_scratch(c, src)
        bound = stage_bound(&p.stage[i], n)
        if scratch_reserve(scratch, bound) == NULL:
            return NO_MEMORY
        n = stage_encode(&p.stage[i], c, src, n, scratch.data, bound)
        if n < 0:
            return n
        src = scratch.data
    result[0] = src
    return n


# --- the door

cdef class Program:
    """Native stages between a chunk's bytes and its stored form.

    Parameters
    ----------
    itemsize : int
        Bytes of one array element.
    swap_width : int
        Stored elements are byte-swapped in groups of this many bytes: 0 (not at all), 2, 4 or 8.
    order : tuple of int, optional
        The stored chunk is the array's chunk transposed by this permutation.
    stages : sequence of (str, dict)
        Codec names and parameters, as in ``encode``, in the order they encode.

    Raises
    ------
    ValueError
        A stage without a native form, or impossible parameters. ``decode`` and ``encode`` run the stages only; the
        swap and the transpose happen where a job moves elements between chunk and array.

    Examples
    --------
    >>> p = Program(2, 0, None, [("shuffle", {"elementsize": 2}), ("zstd", {"level": 3})])
    >>> bytes(p.decode(p.encode(b"abcd"), 4))
    b'abcd'
    """

    def __cinit__(self, itemsize, swap_width, order, stages):
        cdef int i
        if itemsize < 1:
            raise ValueError(f"itemsize must be at least 1, got {itemsize}")
        if swap_width not in (0, 2, 4, 8) or (swap_width and itemsize % swap_width):
            raise ValueError(f"swap_width must be 0, 2, 4 or 8 and divide the itemsize {itemsize}, got {swap_width}")
        self.itemsize = itemsize
        self.swap_width = swap_width
        self.rank = -1
        self.order = None if order is None else tuple(int(axis) for axis in order)
        if self.order is not None:
            if len(self.order) > 64 or sorted(self.order) != list(range(len(self.order))):
                raise ValueError(f"order must be a permutation of at most 64 axes, got {order}")
            if self.order != tuple(range(len(self.order))):
                self.rank = len(self.order)
                for i in range(self.rank):
                    self.permutation[i] = self.order[i]
        self.stages = tuple((str(name), dict(params)) for name, params in stages)
        if len(self.stages) > MAX_STAGES:
            raise ValueError(f"at most {MAX_STAGES} stages, got {len(self.stages)}")
        for i, (name, params) in enumerate(self.stages):
            parse_stage(name, params, &self.stage[i])
        self.nstages = len(self.stages)

    def __dealloc__(self):
        cdef int i
        for i in range(POOL):
            context_free(<Context*>self.pool[i])

    def __reduce__(self):
        return Program, (self.itemsize, self.swap_width, self.order, self.stages)

    def __repr__(self) -> str:
        return f"Program({self.itemsize}, {self.swap_width}, {self.order}, {list(self.stages)})"

    def decode(self, payload, nbytes: int):
        """Undo all stages.

        Parameters
        ----------
        payload : bytes-like
            The stored bytes.
        nbytes : int
            The exact size of the result.

        Returns
        -------
        numpy.ndarray
            One-dimensional, uint8, newly allocated.

        Raises
        ------
        ValueError
            Damaged bytes or a result of another size.
        """
        cdef const char* src
        cdef const char* result
        cdef int64_t n, wanted = nbytes, code
        cdef cnp.ndarray out
        cdef char* dst
        cdef Context* c
        if wanted < 0:
            raise ValueError(f"nbytes must not be negative, got {nbytes}")
        owner = view_bytes(payload, &src, &n)
        out = np.empty(wanted, np.uint8)
        dst = <char*>cnp.PyArray_DATA(out)
        c = program_take(self)
        if c == NULL:
            raise MemoryError
        if n + wanted >= RELEASE_GIL_BYTES:
            with nogil:
                code = decode_whole(self, c, src, n, wanted, dst)
        else:
            code = decode_whole(self, c, src, n, wanted, dst)
        program_give(self, c)
        if code < 0:
            names = ", ".join(name for name, _ in self.stages) or "no codec"
            reason = "needs too much memory to decode" if code == NO_MEMORY else f"does not decode to {wanted} bytes"
            raise ValueError(f"a payload of {n} bytes {reason} with {names}: it is damaged or of another kind")
        return out

    def encode(self, data) -> bytes:
        """Run all stages.

        Parameters
        ----------
        data : bytes-like
            A chunk's bytes.

        Returns
        -------
        bytes
            The stored form.

        Raises
        ------
        ValueError
            Data that a stage cannot hold.
        """
        cdef const char* src
        cdef const char* result = NULL
        cdef int64_t n, made
        cdef Context* c
        owner = view_bytes(data, &src, &n)
        c = program_take(self)
        if c == NULL:
            raise MemoryError
        if n >= RELEASE_GIL_BYTES:
            with nogil:
                made = program_encode(self, c, src, n, &result)
        else:
            made = program_encode(self, c, src, n, &result)
        try:
            if made < 0:
                raise ValueError(f"{n} bytes cannot be encoded with {', '.join(name for name, _ in self.stages)}")
            return result[:made]
        finally:
            program_give(self, c)


cdef int64_t decode_whole(
    Program p, Context* c, const char* src, int64_t n, int64_t wanted, char* dst,
) noexcept nogil:
    cdef const char* result
    cdef int64_t code = program_decode(p, c, src, n, wanted, dst, &result)
    if code == 0 and result != dst:
        memcpy(dst, result, wanted)
    return code
