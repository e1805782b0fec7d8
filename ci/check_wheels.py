"""Checks wheels: their size, their files, and that their extension modules are stripped. Or uses the one installed.

    check_wheels.py WHEEL ...         what is in the files
    check_wheels.py --use README.md   the installed version, and the programs of that page
"""

from __future__ import annotations

import re
import sys
import tempfile
from importlib.metadata import version
from os import chdir
from pathlib import Path
from zipfile import ZipFile

LARGEST = 6_000_000
# Compiled from, or for those who change the library.
UNWANTED = re.compile(r"\.(pyx|pxd|pxi|c|h|o|map)$|(^|/)(tests?|benchmarks|ci)/")
# Names of sections of an ELF file: the table of symbols that a linker needs, and what a debugger reads.
SYMBOLS = re.compile(rb"\0\.(symtab|debug_info)\0")
FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def check_wheel(path: Path) -> str:
    """Return one line about a wheel; end the program where something is wrong."""
    faults = []
    if path.stat().st_size > LARGEST:
        faults.append(f"it is larger than {LARGEST:,} bytes")
    with ZipFile(path) as wheel:
        names = wheel.namelist()
        faults += [f"it holds {name}" for name in names if UNWANTED.search(name)]
        compiled = [name for name in names if name.endswith((".so", ".pyd"))]
        faults += [f"{name} is not stripped" for name in compiled if SYMBOLS.search(wheel.read(name))]
    if not compiled:
        faults.append("it holds no extension module")
    if faults:
        sys.exit(f"{path.name}: {'; '.join(faults[:10])}")
    return f"{path.name}: {path.stat().st_size:,} bytes, {len(names)} files, {len(compiled)} extension modules"


def use_installed(page: Path) -> str:
    """Run the programs of a page with the installed library; return its version and where it lies."""
    import zarr
    import zarr_core

    assert zarr.__version__ == version("zarr"), (zarr.__version__, version("zarr"))
    assert "+core" in zarr.__version__, zarr.__version__
    assert zarr_core.IMPLEMENTATION == "compiled"
    blocks = FENCE.findall(page.read_text())
    assert blocks, f"{page} has no program"
    with tempfile.TemporaryDirectory() as folder:
        chdir(folder)
        names: dict[str, object] = {"__name__": page.stem}
        for number, block in enumerate(blocks, 1):
            exec(compile(block, f"{page.name}, block {number}", "exec", dont_inherit=True), names)
        chdir(page.parent)
    return f"zarr {zarr.__version__} used, from {Path(zarr.__file__).parent}"


if __name__ == "__main__":
    if sys.argv[1] == "--use":
        print(use_installed(Path(sys.argv[2]).resolve()))
    else:
        for argument in sys.argv[1:]:
            print(check_wheel(Path(argument)))
