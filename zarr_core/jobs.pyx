"""Work without the GIL that can be ended before its time: by another thread, or by a signal such as Ctrl-C."""
from libc.stdint cimport int64_t

import threading


cdef extern from "atomics.h" nogil:
    int zc_read(int* place)


cdef extern from "clock.h" nogil:
    int64_t zc_milliseconds()


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


cdef enum:
    SIGNAL_MILLISECONDS = 50


cdef class Job:
    """Work that can be ended before its time."""

    def stop(self) -> None:
        """Have all threads that share the work leave it after the chunk that they are at; what is not done failed."""
        self.stopped = 1


cdef bint watches(Job job):
    if threading.get_ident() != threading.main_thread().ident:
        return False
    job.due = zc_milliseconds() + SIGNAL_MILLISECONDS
    return True


cdef bint goes_on(Job job, bint watch) noexcept nogil:
    if zc_read(&job.stopped):
        return False
    if watch and zc_milliseconds() >= job.due:
        with gil:
            look_for_signals(job)
        job.due = zc_milliseconds() + SIGNAL_MILLISECONDS
        return not zc_read(&job.stopped)
    return True


cdef void look_for_signals(Job job) noexcept:
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        job.interruption = error
        job.stopped = 1


cdef int check_interruption(Job job) except -1:
    if job.interruption is not None:
        error, job.interruption = job.interruption, None
        raise error
    if job.stopped:
        raise InterruptedError("the job was stopped")
    return 0
