"""What all tests share: no test fails because the machine was slow for a moment."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
