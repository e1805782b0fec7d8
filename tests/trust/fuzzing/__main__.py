"""Runs a number of cases, or for a number of minutes.

    python -m tests.trust.fuzzing documents --count 20000 --seed 1
    python -m tests.trust.fuzzing payloads --minutes 5 --log outcomes.txt

Every case can be run again: it is named by its seed and its number. `--log` keeps the outcome of every case, so that
two runs (with freed memory filled with different bytes) can be compared line by line.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.trust.fuzzing import documents, layouts, payloads
from tests.trust.fuzzing.cases import Report

KINDS: dict[str, Callable[[int, int, Report], None]] = {
    "documents": documents.run,
    "payloads": payloads.run,
    "layouts": layouts.run,
}
ROUND = 5_000
HANG_SECONDS = 60
SHOWN = 20


def rounds(options: argparse.Namespace, report: Report) -> None:
    """Run cases in rounds of a seed each, until the number or the time is reached."""
    run, seed = KINDS[options.kind], options.seed
    deadline = time.monotonic() + 60 * options.minutes
    left = options.count
    while left > 0 or time.monotonic() < deadline:
        count = min(left, ROUND) if left > 0 else ROUND
        # Nothing but a hang takes so long: the stack is written out and the process ends.
        faulthandler.dump_traceback_later(HANG_SECONDS * 10, exit=True)
        run(count, seed, report)
        left, seed = left - count, seed + 1
        if left <= 0 and options.minutes == 0:
            return


def main() -> int:
    """Run, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust.fuzzing", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    faulthandler.enable()
    report = Report()
    rounds(options, report)
    faulthandler.cancel_dump_traceback_later()
    if options.log is not None:
        options.log.write_text("\n".join(report.outcomes) + "\n", encoding="utf-8")
    print(f"{options.kind}: {report.summary()}")
    for line in report.breaches[:SHOWN]:
        print(f"  {line}")
    return 1 if report.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
