"""The slots of a plan over inner chunks, grouped by the shard that holds them."""
cimport cython
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport calloc, free, malloc

from operator import index

import numpy as np

cimport numpy as cnp

from zarr_core.grid cimport MAX_RANK, AxisC
from zarr_core.keys cimport KeyFormat, one_key
from zarr_core.plan cimport PLAN_PRODUCT, AxisSelection, Plan, int_tuple, slot_coordinates, touched_chunk
from zarr_core.sorting cimport order_rows, same_row

cnp.import_array()


@cython.final
@cython.no_gc
cdef class ShardGroups:
    """The slots of a plan over inner chunks, grouped by the shard that holds them.

    Parameters
    ----------
    plan
        A plan over the grid of inner chunks.
    starts
        Per axis, the inner chunks per shard, or the first inner chunk of each shard (a last entry at or past the end
        of the axis closes the last shard; without it the last shard ends with the axis).
    """

    def __cinit__(self, Plan plan not None, starts):
        cdef tuple items = tuple(starts)
        cdef int d
        if len(items) != plan.ndim:
            raise ValueError(
                f"starts must have one entry per dimension: got {len(items)} for {plan.ndim} dimensions"
            )
        self.plan = plan
        self.axes = <ShardAxis*> calloc(plan.ndim if plan.ndim else 1, sizeof(ShardAxis))
        if self.axes == NULL:
            raise MemoryError("no memory for shard groups")
        self.ndim = plan.ndim
        for d in range(self.ndim):
            read_starts(&self.axes[d], &plan.grid.c[d], items[d])
        if plan.kind == PLAN_PRODUCT:
            group_product(self)
        else:
            group_points(self)

    def __dealloc__(self):
        cdef int d
        if self.axes != NULL:
            for d in range(self.ndim):
                free(self.axes[d].starts)
                free(self.axes[d].bounds)
            free(self.axes)
        free(self.order)
        free(self.order_starts)

    cdef Py_ssize_t check(self, object g) except -1:
        cdef object group = index(g)
        if not 0 <= group < self.ngroups:
            raise IndexError(f"group {group} is out of range for {self.ngroups} groups")
        return group

    def coords(self, g):
        """Coordinates of shard ``g`` in the grid of shards."""
        cdef int64_t coords[MAX_RANK]
        group_coords(self, self.check(g), coords)
        return int_tuple(coords, self.ndim)

    def all_coords(self):
        """Coordinates of all shards, as an ``(ngroups, ndim)`` array."""
        cdef cnp.ndarray result = np.empty((self.ngroups, self.ndim), dtype=np.int64)
        cdef int64_t* data = <int64_t*> cnp.PyArray_DATA(result)
        cdef Py_ssize_t g
        for g in range(self.ngroups):
            group_coords(self, g, data + g * self.ndim)
        return result

    def slots(self, g):
        """Slots of shard ``g``."""
        cdef Py_ssize_t group = self.check(g)
        cdef cnp.ndarray result = np.empty(group_size(self, group), dtype=np.int64)
        group_slots(self, group, <int64_t*> cnp.PyArray_DATA(result), NULL)
        return result

    def inner(self, g):
        """C-order index within the shard of each slot's inner chunk."""
        cdef Py_ssize_t group = self.check(g)
        cdef cnp.ndarray result = np.empty(group_size(self, group), dtype=np.int64)
        group_slots(self, group, NULL, <int64_t*> cnp.PyArray_DATA(result))
        return result

    def _keys(self, KeyFormat keys not None):
        """The keys of all shards, for ``KeyFormat.keys``."""
        cdef int64_t coords[MAX_RANK]
        cdef Py_ssize_t g
        cdef list found = []
        for g in range(self.ngroups):
            group_coords(self, g, coords)
            found.append(one_key(keys, coords, self.ndim))
        return found

    def chunks_per_shard(self, g):
        """Inner chunks of shard ``g`` along each axis."""
        cdef int64_t counts[MAX_RANK]
        group_chunks_per_shard(self, self.check(g), counts)
        return int_tuple(counts, self.ndim)

    def __repr__(self):
        return f"<ShardGroups of {self.ngroups} shards, {self.plan.nslots} slots>"


cdef int read_starts(ShardAxis* shards, const AxisC* axis, object item) except -1:
    cdef cnp.ndarray given
    cdef const int64_t* data
    cdef Py_ssize_t i, n
    if not isinstance(item, (np.ndarray, list, tuple)):
        every = index(item)
        if not 1 <= every <= INT64_MAX:
            raise ValueError(f"chunks per shard must be at least 1, got {every}")
        shards.every = every
        return 0
    given = np.ascontiguousarray(item, dtype=np.int64)
    n = given.size
    data = <const int64_t*> cnp.PyArray_DATA(given)
    shards.starts = <int64_t*> malloc((n + 2) * sizeof(int64_t))
    if shards.starts == NULL:
        raise MemoryError("no memory for shard groups")
    for i in range(n):
        if (data[i] != 0) if i == 0 else (data[i] <= data[i - 1]):
            raise ValueError(f"first chunks of shards must rise strictly from 0, got {data[i]} for shard {i}")
        shards.starts[i] = data[i]
    if n == 0 and axis.ncells:
        raise ValueError(f"first chunks of shards are missing for an axis of {axis.ncells} chunks")
    if n and data[n - 1] >= axis.ncells:
        shards.nstarts = n - 1
    else:
        shards.starts[n] = axis.ncells
        shards.nstarts = n
    return 0


cdef inline int64_t shard_of(const ShardAxis* shards, int64_t chunk) noexcept nogil:
    cdef int64_t low, high, middle
    if shards.every:
        return chunk // shards.every
    low = 0
    high = shards.nstarts
    while high - low > 1:
        middle = (low + high) >> 1
        if shards.starts[middle] <= chunk:
            low = middle
        else:
            high = middle
    return low


cdef inline int64_t shard_first(const ShardAxis* shards, int64_t shard) noexcept nogil:
    return shard * shards.every if shards.every else shards.starts[shard]


cdef inline int64_t shard_length(const ShardAxis* shards, int64_t shard) noexcept nogil:
    return shards.every if shards.every else shards.starts[shard + 1] - shards.starts[shard]


cdef int group_product(ShardGroups groups) except -1:
    """Touched chunks rise along an axis, so each shard takes a run of them; groups are products of runs."""
    cdef Plan plan = groups.plan
    cdef ShardAxis* shards
    cdef AxisSelection* selection
    cdef int64_t j, shard, previous, total = 1
    cdef int d
    for d in range(groups.ndim):
        shards = &groups.axes[d]
        selection = &plan.axes[d]
        shards.bounds = <int64_t*> malloc((selection.ntouched + 1) * sizeof(int64_t))
        if shards.bounds == NULL:
            raise MemoryError("no memory for shard groups")
        previous = -1
        for j in range(selection.ntouched):
            shard = shard_of(shards, touched_chunk(&plan.grid.c[d], selection, j))
            if shard != previous:
                shards.bounds[shards.ngroups] = j
                shards.ngroups += 1
                previous = shard
        shards.bounds[shards.ngroups] = selection.ntouched
        total = total * shards.ngroups if total else 0
    groups.ngroups = total if plan.nslots else 0
    return 0


cdef int group_points(ShardGroups groups) except -1:
    cdef Plan plan = groups.plan
    cdef Py_ssize_t i, n = plan.nslots
    cdef int d, ndim = groups.ndim, status = 1
    cdef int64_t* rows
    groups.order = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    groups.order_starts = <int64_t*> malloc((n + 1) * sizeof(int64_t))
    rows = <int64_t*> malloc((n * ndim + 1) * sizeof(int64_t))
    if groups.order == NULL or groups.order_starts == NULL or rows == NULL:
        free(rows)
        raise MemoryError("no memory for shard groups")
    for i in range(n):
        for d in range(ndim):
            rows[i * ndim + d] = shard_of(&groups.axes[d], plan.slot_coords[i * ndim + d])
    if n:
        status = order_rows(rows, n, ndim, groups.order)
    if status == 1:
        for i in range(n):
            groups.order[i] = i
    for i in range(n):
        if i == 0 or not same_row(rows + groups.order[i] * ndim, rows + groups.order[i - 1] * ndim, ndim):
            groups.order_starts[groups.ngroups] = i
            groups.ngroups += 1
    groups.order_starts[groups.ngroups] = n
    free(rows)
    if status < 0:
        raise MemoryError("no memory for shard groups")
    return 0


cdef Py_ssize_t group_size(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    cdef Py_ssize_t size = 1
    cdef int64_t n
    cdef const int64_t* bounds
    cdef int d
    if groups.order != NULL:
        return groups.order_starts[g + 1] - groups.order_starts[g]
    for d in range(groups.ndim - 1, -1, -1):
        n = groups.axes[d].ngroups
        bounds = groups.axes[d].bounds + g % n
        size *= bounds[1] - bounds[0]
        g //= n
    return size


cdef void group_coords(ShardGroups groups, Py_ssize_t g, int64_t* coords) noexcept nogil:
    cdef int d
    slot_coordinates(groups.plan, group_first(groups, g), coords)
    for d in range(groups.ndim):
        coords[d] = shard_of(&groups.axes[d], coords[d])


cdef Py_ssize_t group_first(ShardGroups groups, Py_ssize_t g) noexcept nogil:
    """The first slot of a group."""
    cdef Py_ssize_t slot = 0, stride = 1
    cdef int64_t n
    cdef int d
    if groups.order != NULL:
        return groups.order[groups.order_starts[g]]
    for d in range(groups.ndim - 1, -1, -1):
        n = groups.axes[d].ngroups
        slot += stride * groups.axes[d].bounds[g % n]
        stride *= groups.plan.axes[d].ntouched
        g //= n
    return slot


cdef void group_chunks_per_shard(ShardGroups groups, Py_ssize_t g, int64_t* counts) noexcept nogil:
    cdef int d
    group_coords(groups, g, counts)
    for d in range(groups.ndim):
        counts[d] = shard_length(&groups.axes[d], counts[d])


cdef void group_slots(ShardGroups groups, Py_ssize_t g, int64_t* slots, int64_t* inner) noexcept nogil:
    if groups.order != NULL:
        point_group_slots(groups, g, slots, inner)
    else:
        product_group_slots(groups, g, slots, inner)


cdef void point_group_slots(ShardGroups groups, Py_ssize_t g, int64_t* slots, int64_t* inner) noexcept nogil:
    cdef int64_t coords[MAX_RANK]
    cdef int64_t counts[MAX_RANK]
    cdef const int64_t* chunk
    cdef Py_ssize_t i, n = group_size(groups, g)
    cdef const int64_t* order = groups.order + groups.order_starts[g]
    cdef int64_t place
    cdef int d
    group_coords(groups, g, coords)
    group_chunks_per_shard(groups, g, counts)
    for i in range(n):
        if slots != NULL:
            slots[i] = order[i]
        if inner != NULL:
            chunk = groups.plan.slot_coords + order[i] * groups.ndim
            place = 0
            for d in range(groups.ndim):
                place = place * counts[d] + chunk[d] - shard_first(&groups.axes[d], coords[d])
            inner[i] = place


cdef void product_group_slots(ShardGroups groups, Py_ssize_t g, int64_t* slots, int64_t* inner) noexcept nogil:
    cdef int64_t begin[MAX_RANK]
    cdef int64_t end[MAX_RANK]
    cdef int64_t at[MAX_RANK]
    cdef int64_t coords[MAX_RANK]
    cdef int64_t counts[MAX_RANK]
    cdef Py_ssize_t i, n = group_size(groups, g), rest = g
    cdef int64_t slot, place, chunk
    cdef int d, ndim = groups.ndim
    group_coords(groups, g, coords)
    group_chunks_per_shard(groups, g, counts)
    for d in range(ndim - 1, -1, -1):
        at[d] = begin[d] = groups.axes[d].bounds[rest % groups.axes[d].ngroups]
        end[d] = groups.axes[d].bounds[rest % groups.axes[d].ngroups + 1]
        rest //= groups.axes[d].ngroups
    for i in range(n):
        slot = 0
        place = 0
        for d in range(ndim):
            slot = slot * groups.plan.axes[d].ntouched + at[d]
            chunk = touched_chunk(&groups.plan.grid.c[d], &groups.plan.axes[d], at[d])
            place = place * counts[d] + chunk - shard_first(&groups.axes[d], coords[d])
        if slots != NULL:
            slots[i] = slot
        if inner != NULL:
            inner[i] = place
        for d in range(ndim - 1, -1, -1):
            at[d] += 1
            if at[d] < end[d]:
                break
            at[d] = begin[d]
