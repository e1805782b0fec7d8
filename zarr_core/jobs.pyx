"""Run work without the GIL that another thread, or a signal such as Ctrl-C, can end early."""
from libc.stdint cimport int64_t

import threading


cdef extern from "atomics.h" nogil:
    int zc_read(int* place)
    void zc_write(int* place, int value)


cdef extern from "clock.h" nogil:
    int64_t zc_milliseconds()


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


cdef enum:
    SIGNAL_MILLISECONDS = 50


cdef class Job:
    """Work that can be ended early."""

    def stop(self) -> None:
        """Let all threads of the work stop after their present chunk; unfinished slots are failed."""
        end_early(self)


cdef void end_early(Job job) noexcept nogil:
    zc_write(&job.stopped, 1)


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
        end_early(job)


cdef int check_interruption(Job job) except -1:
    if job.interruption is not None:
        error, job.interruption = job.interruption, None
        raise error
    if zc_read(&job.stopped):
        raise InterruptedError("the job was stopped")
    return 0
