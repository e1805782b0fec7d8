"""``python -m zarr_core``: run a program with the ``zarr`` of this library, or with both, and compare."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from itertools import zip_longest

from zarr_core.install import FRONT, VARIABLE

USAGE = """Run a program so that `import zarr` is the one of zarr-core, for it and its children.

  python -m zarr_core program.py ...         a program with its arguments
  python -m zarr_core -m module ...          a module; `-m zarr` is the command zarr
  python -m zarr_core -c "code"              code
  python -m zarr_core compare program.py ... the program twice, with the installed zarr and with the one of
                                             zarr-core: times, peak memory, and any difference of the printed output

Where programs cannot be started so: `import zarr_core.install` as their first line, ZARR_CORE=1 in their environment,
or `%load_ext zarr_core` in a notebook."""


@dataclass
class Run:
    """One run of a program: its version of zarr, its time and memory, and its output."""

    version: str
    seconds: float
    peak: int | None
    code: int
    output: bytes


def environment(with_core: bool) -> dict[str, str]:
    """Return the environment of a process that imports the ``zarr`` of this library, or the installed one."""
    kept = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return kept | {VARIABLE: "1"} if with_core else kept


def command_line(arguments: list[str]) -> list[str]:
    """Return the command that starts Python with the options of this one."""
    options: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    return [sys.executable, *options, *arguments]


def peak_of(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for a process; return its peak memory in bytes, or None if the system does not report it."""
    if not hasattr(os, "wait4"):
        process.wait()
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return int(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def run(arguments: list[str], *, with_core: bool, version: str) -> Run:
    """Run a program, keep its output, and measure it."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command_line(arguments), env=environment(with_core), stdin=subprocess.DEVNULL, stdout=output
        )
        peak = peak_of(process)
        seconds = time.perf_counter() - start
        output.seek(0)
        return Run(version, seconds, peak, process.returncode, output.read())


def versions() -> tuple[str, str]:
    """Return the versions of the installed ``zarr`` and of the one of this library."""
    path = [folder for folder in sys.path if folder != FRONT]
    installed = [found.version for found in metadata.distributions(name="zarr", path=path)]
    ours = [found.version for found in metadata.distributions(name="zarr", path=[FRONT])]
    if not installed or not ours:
        raise SystemExit(
            "zarr_core compare: needs two libraries, the distribution zarr-core and beside it another zarr; "
            f"found zarr {installed or 'not installed'}, zarr-core {ours or 'not installed'}."
        )
    return installed[0], ours[0]


def difference(one: bytes, two: bytes) -> str:
    """Return the first difference of two outputs; empty if they are equal."""
    for number, (left, right) in enumerate(zip_longest(one.splitlines(), two.splitlines()), 1):
        if left != right:
            shown = ["nothing" if line is None else repr(line.decode(errors="replace")) for line in (left, right)]
            return f"differs first in line {number}: {shown[0]}, {shown[1]}"
    return "differs in its last line break" if one != two else ""


def compare(arguments: list[str]) -> int:
    """Run a program with both libraries and print a comparison; return 0 if output and exit status are the same."""
    installed, ours = versions()
    runs = [run(arguments, with_core=False, version=installed), run(arguments, with_core=True, version=ours)]
    rows = [
        ("zarr", [made.version for made in runs]),
        ("seconds", [f"{made.seconds:.2f}" for made in runs]),
        ("peak memory", ["unknown" if made.peak is None else f"{made.peak / 2**20:.0f} MiB" for made in runs]),
        ("exit status", [str(made.code) for made in runs]),
    ]
    for label, (left, right) in rows:
        print(f"{label:14}{left:>20}{right:>20}")
    differs = difference(runs[0].output, runs[1].output)
    print(f"{'output':14}{differs or f'the same, {len(runs[0].output)} bytes'}")
    return int(bool(differs) or runs[0].code != runs[1].code)


def main(arguments: list[str]) -> int:
    """Run the command line; if a program replaces this process, the function does not return."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    if arguments[:1] == ["compare"]:
        if not arguments[1:]:
            raise SystemExit(f"zarr_core compare: which program?\n\n{USAGE}")
        return compare(arguments[1:])
    command = command_line(arguments)
    if sys.platform == "win32":  # there, a program that is replaced ends for who waits for it
        return subprocess.run(command, env=environment(with_core=True), check=False).returncode
    os.execve(command[0], command, environment(with_core=True))
    raise AssertionError("not reached")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
