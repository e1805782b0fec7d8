"""What all tests share: no test fails because the machine was slow for a moment."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes to draw says how busy the machine is, not whether the code is right.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
