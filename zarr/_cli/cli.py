"""The command line ``zarr``: parse arguments by typer if it is installed, else by argparse."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any

from zarr._cli.commands import CLIZarrFormat, CLIZarrFormatV3, info, ls, migrate, remove_metadata, tree
from zarr.logs import set_format, set_log_level

__all__ = ["CLIZarrFormat", "CLIZarrFormatV3", "app", "info", "ls", "main", "migrate", "remove_metadata", "tree"]

logger = logging.getLogger("zarr.cli")

# The errors of a command where the user, not the program, must change something: printed in one line.
EXPECTED = (OSError, ValueError, TypeError, KeyError)


def say(text: str | None) -> None:
    """Print the result of a command, if there is one."""
    if text:
        print(text)


def speak_up() -> None:
    """Log each action while it runs."""
    set_log_level("INFO")
    set_format("%(message)s")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="zarr", description="Look at zarr stores and migrate their metadata.")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is done")
    commands = parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser("migrate", help=migrate.__doc__.splitlines()[0] if migrate.__doc__ else None)
    command.add_argument("zarr_format", choices=["v3"])
    command.add_argument("input_store")
    command.add_argument("output_store", nargs="?")
    for flag in ("--dry-run", "--overwrite", "--force", "--remove-v2-metadata"):
        command.add_argument(flag, action="store_true")
    command.set_defaults(run=migrate)

    command = commands.add_parser("remove-metadata", help="Remove all metadata of one format from a store.")
    command.add_argument("zarr_format", choices=["v2", "v3"])
    command.add_argument("store")
    for flag in ("--force", "--dry-run"):
        command.add_argument(flag, action="store_true")
    command.set_defaults(run=remove_metadata)

    for name, function in (("info", info), ("tree", tree), ("ls", ls)):
        command = commands.add_parser(name, help=(function.__doc__ or "").splitlines()[0])
        command.add_argument("store")
        command.add_argument("path", nargs="?")
        command.set_defaults(run=function)
        if name == "tree":
            command.add_argument("--level", type=int)
        if name == "ls":
            command.add_argument("-l", "--long", action="store_true")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        0, or 1 where something could not be done.

    Examples
    --------
    >>> main(["tree", "/no/such/place"])
    1
    """
    given = vars(_parser().parse_args(arguments))
    given.pop("command")
    run = given.pop("run")
    if given.pop("verbose") or given.get("dry_run"):
        speak_up()
    try:
        text = run(**given)
    except EXPECTED as error:
        print(f"zarr: {error}", file=sys.stderr)
        return 1
    say(text)
    return 0


def _app() -> Callable[[], Any]:
    """Return the typer application; without typer, a function that does the same by argparse."""
    try:
        from zarr._cli.typer_app import make_app
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        return lambda: sys.exit(main())
    return make_app(speak_up, say, EXPECTED)


app = _app()
