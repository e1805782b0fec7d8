"""Complex numbers; re-exports."""

from __future__ import annotations

from zarr.dtype.types.numbers import BaseComplex, Complex64, Complex128

__all__ = ["BaseComplex", "Complex128", "Complex64"]
