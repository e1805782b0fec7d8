# Shards that several threads encode together.
from libc.stdint cimport int64_t

from zarr_core.files cimport Folder
from zarr_core.keys cimport KeyFormat
from zarr_core.shard_layout cimport Shard, ShardWriter
from zarr_core.streams cimport Context, Scratch

cdef extern from "gate.h" nogil:
    ctypedef struct zc_gate:
        pass
    int zc_gate_init(zc_gate* gate)
    void zc_gate_free(zc_gate* gate)
    void zc_gate_enter(zc_gate* gate)
    void zc_gate_leave(zc_gate* gate)
    void zc_gate_wait(zc_gate* gate)
    void zc_gate_wake(zc_gate* gate)


# A shard that several threads are at.
cdef struct SharedShard:
    zc_gate gate
    bint gated              # the gate is there
    int64_t parts           # how many parts there are
    int64_t taken           # parts that threads have taken
    # The rest is changed inside the gate only.
    bint laid
    Scratch memory          # of the layout
    Shard shard
    Scratch made            # the stored shard, where it does not go to a file
    int64_t placed          # parts whose place is known
    int64_t left            # parts that are not done
    int64_t written         # bytes that have their place
    int fd
    char* temporary         # the name of the file
    bint stored             # some chunk is
    bint broken
    int error
    int outcome


# One for each of `count` shards, each to be encoded in so many parts.
cdef SharedShard* new_shared(int64_t count, int64_t parts) except NULL
cdef void free_shared(SharedShard* shared, int64_t count) noexcept
# Parts of one shard, as long as there are any that no thread has taken; f NULL: the shard stays in memory.
cdef void share_shard(
    ShardWriter job, SharedShard* s, Context* c, Folder* f, KeyFormat keys, int64_t position, bint watch,
) noexcept nogil
# A shard that stayed in memory, handed out once: bytes, None (no chunk to store) or Ellipsis (failed).
cdef object take_shared(SharedShard* s)
