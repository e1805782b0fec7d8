"""The tests of the server need the extra ``serve``."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the server needs the extra serve")
pytest.importorskip("uvicorn", reason="the server needs the extra serve")
