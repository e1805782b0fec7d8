"""Run random programs: a number of them, or for a number of minutes.

    python -m tests.stateful.programs --count 500 --seed 1
    python -m tests.stateful.programs --minutes 5

A program is named by its seed. Of one that fails, the smallest that still fails is printed as a script.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time
from collections import Counter
from pathlib import Path

from .rounds import have_peers, run_round

ROUND = 100
HANG_SECONDS = 900


def main() -> int:
    """Run, and say what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.stateful.programs", description=__doc__)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", default="", help="operations to leave out, with commas between them")
    parser.add_argument("--log", type=Path, help="a file that gets a line a round")
    options = parser.parse_args()
    without, peers = tuple(filter(None, options.without.split(","))), have_peers()
    if not peers:
        print("not read by other libraries: there is no interpreter that has them")
    deadline, seed, wrong, totals = time.monotonic() + 60 * options.minutes, options.seed, 0, Counter[str]()
    while seed < options.seed + options.count or time.monotonic() < deadline:
        last = min(seed + ROUND, options.seed + options.count) if options.count else seed + ROUND
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)  # nothing but a hang takes so long
        report = run_round(range(seed, max(last, seed + 1)), without, peers)
        totals.update({"programs": report.programs, "steps": report.steps, **report.read})
        seed, wrong = seed + report.programs, wrong + len(report.wrong)
        for number, text in report.wrong.items():
            print(f"seed {number}: {text}", flush=True)
        if options.log is not None:
            options.log.write_text(f"{dict(totals)}, {wrong} wrong, next seed {seed}\n", encoding="utf-8")
    faulthandler.cancel_dump_traceback_later()
    print(f"programs: {totals['programs']:,} of {totals['steps']:,} steps; nodes read by zarr-python: "
          f"{totals['zarr']:,}, by tensorstore: {totals['tensorstore']:,}; {wrong} programs went wrong")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
