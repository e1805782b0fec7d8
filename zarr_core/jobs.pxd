# Jobs that can be stopped.
from libc.stdint cimport int64_t


# Work that can be ended before its time: by stop(), or by a signal whose handler raises.
cdef class Job:
    cdef int stopped
    cdef int64_t due                    # when the main thread looks for signals again, in milliseconds
    cdef object interruption            # what the handler of a signal raised


# To be called with the GIL, in the thread that starts the work: True if this thread looks for signals.
cdef bint watches(Job job)
# True if there is more to be done; now and then, where `watch` says so, signals are looked for.
cdef bint goes_on(Job job, bint watch) noexcept nogil
# Ends the work of all threads that share the job, after the chunk that each is at.
cdef void end_early(Job job) noexcept nogil
# Raises what interrupted the job, or InterruptedError where it was stopped.
cdef int check_interruption(Job job) except -1
