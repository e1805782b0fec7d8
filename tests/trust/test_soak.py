"""A short soak; ``bash ci/soak.sh 60`` runs a long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trust.soak import POOLED, soak


@pytest.mark.slow
def test_soak(tmp_path: Path) -> None:
    found = soak(8, tmp_path)
    assert found["turns"] > 0
    assert found["bytes"] <= 5 << 20, found
    assert found["descriptors"] <= POOLED, found
    assert found["threads"] <= 0, found
