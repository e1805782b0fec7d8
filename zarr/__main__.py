"""Run the command line: ``python -m zarr`` and the script ``zarr`` both start here."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich")
"""The packages of the extra ``cli``."""


def main() -> None:
    """Run the command line of this process; if a package for it is missing, name the extra that has it."""
    try:
        from zarr._cli.cli import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        print(f'zarr: the command line needs the package {error.name}: pip install "zarr[cli]"', file=sys.stderr)
        sys.exit(2)
    app()


if __name__ == "__main__":
    main()
