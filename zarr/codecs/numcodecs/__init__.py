"""The codecs of the numcodecs package as codecs of format 3, each under the name ``numcodecs.<id>``.

May import: the floors below, and the modules of ``zarr.codecs`` that bind codecs.
Read first: ``_codecs.py``, for their common base and the 21 classes.
"""

from __future__ import annotations

from zarr.codecs.numcodecs._codecs import *  # noqa: F403
from zarr.codecs.numcodecs._codecs import __all__ as __all__
from zarr.codecs.numcodecs._codecs import _NumcodecsArrayArrayCodec as _NumcodecsArrayArrayCodec
from zarr.codecs.numcodecs._codecs import _NumcodecsArrayBytesCodec as _NumcodecsArrayBytesCodec
from zarr.codecs.numcodecs._codecs import _NumcodecsBytesBytesCodec as _NumcodecsBytesBytesCodec
from zarr.codecs.numcodecs._codecs import _NumcodecsCodec as _NumcodecsCodec
