"""Run the command line: ``python -m zarr``, and what the script ``zarr`` starts."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich")
"""The packages of the extra ``cli``."""


def main() -> None:
    """Run the command of the process's arguments; without the packages that it needs, say which extra has them."""
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
