"""Files cross both ways with zarr-python 3.4.2, tensorstore and zarrs.

Every data type x codec x order x sharded or not x format that both sides support: each library writes, each reads
what the others wrote, and all compare with one formula (see exchange.py).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .peers import run_peer

SCRIPT = Path(__file__).with_name("exchange.py")
PEERS = ("zarr", "zarrs", "tensorstore")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def load_exchange() -> ModuleType:
    """Import the script that the peers run, so that both sides share one formula."""
    spec = importlib.util.spec_from_file_location("exchange", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def exchanged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let everyone write once."""
    folder = tmp_path_factory.mktemp("exchange")
    for peer in PEERS:
        assert run_peer(SCRIPT, "write", peer, str(folder)) == {}
    assert load_exchange().write_all("zarr", folder, "ours") == {}
    return folder


def differences(outcome: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return what is not equal."""
    unequal = {case: {who: v for who, v in row.items() if v != "equal"} for case, row in outcome.items()}
    return {case: row for case, row in unequal.items() if row}


def test_we_read_what_others_write(exchanged: Path) -> None:
    outcome: dict[str, Any] = load_exchange().read_all("zarr", exchanged)
    assert differences(outcome) == {}
    read = {who for row in outcome.values() for who in row}
    assert read == {*PEERS, "ours"}
    assert sum(len(row) for row in outcome.values()) > 2000


@pytest.mark.parametrize("peer", PEERS)
def test_others_read_what_we_write(exchanged: Path, peer: str) -> None:
    outcome = run_peer(SCRIPT, "read", peer, str(exchanged))
    ours = {case: {"ours": row["ours"]} for case, row in outcome.items() if "ours" in row}
    assert differences(ours) == {}
    assert len(ours) > 250
