"""Elements in the memory of a device, whose chunks the core decodes and encodes in host memory.

With buffers of ``zarr.buffer.gpu``, the elements of a whole selection are copied to or from the device at once. Other
pipelines, and codecs that the core does not know (they may run on the device), get buffers of the device instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zarr.arrays.layout import OWN_PIPELINES, ArrayLayout
from zarr.buffer import gpu
from zarr.buffer.core import BufferPrototype, default_buffer_prototype
from zarr.defaults import settings


def device_prototype(layout: ArrayLayout, prototype: BufferPrototype | None) -> BufferPrototype | None:
    """Return the prototype if its buffers lie on a device, and the core runs all codecs of the array; else None."""
    prototype = prototype or default_buffer_prototype()
    if prototype.buffer is not gpu.Buffer or prototype.nd_buffer is not gpu.NDBuffer or layout.program is None:
        return None
    return prototype if settings.values["codec_pipeline"]["path"] in OWN_PIPELINES else None


def to_device(elements: Any, prototype: BufferPrototype) -> Any:
    """Copy elements that were read to the device; a scalar stays on the host."""
    if not isinstance(elements, np.ndarray):
        return elements
    return prototype.nd_buffer.from_numpy_array(elements).as_ndarray_like()


def to_host(value: Any) -> Any:
    """Copy a value that lies on a device to the host; return any other value as it is."""
    if isinstance(value, gpu.NDBuffer):
        return value.as_numpy_array()
    return gpu.NDBuffer(value).as_numpy_array() if hasattr(value, "__cuda_array_interface__") else value
