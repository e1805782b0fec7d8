"""The command line ``zarr``: the application, the table of commands, and how errors are said.

To add a command, write a function whose parameters are annotated for typer, and give it a row in ``COMMANDS``. Its
docstring is its help. It prints its answer, and raises where something cannot be done.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple, TextIO

import typer

import zarr
from zarr._cli import attributes
from zarr._cli.answers import FoundError, NotAgreedError
from zarr._cli.change import consolidate, copy, move, rm
from zarr._cli.checks import checksum, diff, repair, stats, verify
from zarr._cli.create import create
from zarr._cli.layouts import coarsen, rechunk, reencode
from zarr._cli.look import info, ls, tree
from zarr._cli.migrate import CLIZarrFormat, CLIZarrFormatV3, migrate, remove_metadata, speak_up
from zarr._cli.sizes import du, stat
from zarr._cli.values import cat
from zarr.errors import NodeNotFoundError

__all__ = [
    "COMMANDS",
    "CLIZarrFormat",
    "CLIZarrFormatV3",
    "app",
    "info",
    "ls",
    "main",
    "migrate",
    "remove_metadata",
    "tree",
]


class Command(NamedTuple):
    """A row of the table of commands."""

    function: Callable[..., None]
    example: str
    """The words after ``zarr`` in the example of the help."""


COMMANDS: Final[dict[str, dict[str, Command]]] = {
    "Look at data": {
        "info": Command(info, "info data.zarr"),
        "tree": Command(tree, "tree data.zarr --level 1"),
        "ls": Command(ls, "ls -l s3://bucket/data.zarr --option anon=true"),
        "cat": Command(cat, 'cat data.zarr::temperature --select "0:10,5" --format csv'),
        "stat": Command(stat, "stat data.zarr::temperature"),
        "du": Command(du, "du -h data.zarr"),
    },
    "Change data": {
        "create": Command(
            create, "create data.zarr::x --shape 100,100 --dtype f4 --chunks 10,10 --codec zstd:5 --attr units=K"
        ),
        "copy": Command(copy, "copy data.zarr backup.zip --if-exists skip"),
        "move": Command(move, "move data.zarr::temp ::temperature"),
        "rm": Command(rm, "rm data.zarr::temperature"),
        "attrs get": Command(attributes.get, "attrs get data.zarr::temperature units"),
        "attrs set": Command(attributes.change, 'attrs set data.zarr::temperature units=K "valid=[0, 400]"'),
        "attrs unset": Command(attributes.unset, "attrs unset data.zarr::temperature units"),
    },
    "Change the layout": {
        "rechunk": Command(rechunk, "rechunk data.zarr series.zarr --chunks time=-1,lat=10,lon=10"),
        "reencode": Command(reencode, "reencode data.zarr small.zarr --codec zstd:9"),
        "coarsen": Command(coarsen, "coarsen image.zarr pyramid.zarr --method max"),
    },
    "Check data": {
        "verify": Command(verify, "verify data.zarr --sample 0.01"),
        "repair": Command(repair, "repair data.zarr --dry-run"),
        "checksum": Command(checksum, "checksum data.zarr"),
        "diff": Command(diff, "diff data.zarr backup.zip"),
        "stats": Command(stats, "stats data.zarr::temperature --bins 10"),
    },
    "Change metadata": {
        "consolidate": Command(consolidate, "consolidate data.zarr"),
        "migrate": Command(migrate, "migrate v3 data.zarr --dry-run"),
        "remove-metadata": Command(remove_metadata, "remove-metadata v2 data.zarr"),
    },
}
"""All commands by the panel of the help in which they stand; two words make a command of a group of commands."""

GROUPS: Final = {"attrs": "Get, set and remove attributes."}

_EXPECTED: Final = (
    NotAgreedError, FoundError, OSError, ValueError, TypeError, LookupError, ImportError, NotImplementedError,
)  # fmt: skip
"""Errors that are printed without the name of their class; others come from libraries below and need it."""

_OUR_WORDS: Final = {
    "Open it with open_array, or replace it with overwrite=True.": "Replace it with --overwrite.",
    "Open it with open_group, or replace it with overwrite=True.": "Replace it with --overwrite.",
    "overwrite=True": "--overwrite",
    "see if_exists": "see --if-exists",
    "No group found in store": "No array or group found in store",
    "'storage_options' was provided but unused.": "--option is for URLs: leave it out.",
    "Unable to locate credentials": "Unable to locate credentials: say --option anon=true if the data are public",
}
"""Texts of the library, and the words of the command line for them."""

_HELP = """Look at zarr data, copy and change them.

STORE is a folder, a zip file or a URL. A node in it follows after :: as in data.zarr::temperature.
"""
_EXIT_CODES = "Exit codes: 0 done; 1 could not be done, a line on stderr says why; 2 wrong usage."


class App(typer.Typer):
    """A typer application that says errors and warnings in one line each."""

    shows_tracebacks = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command of the process's arguments."""
        self.shows_tracebacks = False
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().__call__(*args, **{"prog_name": "zarr", **kwargs})
            except Exception as error:
                if self.shows_tracebacks:
                    traceback.print_exception(error)
                print(f"zarr: {one_line(error)}", file=sys.stderr)
                sys.exit(1)


def one_line(error: Exception) -> str:
    """Return what an error says, in one line and in the words of the command line.

    Examples
    --------
    >>> one_line(KeyError("no such attribute"))
    'no such attribute'
    >>> one_line(RuntimeError("the server\\nis busy"))
    'RuntimeError: the server is busy'
    """
    text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)
    text += _way_out(error, text)
    for theirs, ours in _OUR_WORDS.items():
        text = text.replace(theirs, ours)
    if not text or not isinstance(error, _EXPECTED):
        text = f"{type(error).__name__}: {text}"
    return " ".join(text.split())


def _way_out(error: Exception, text: str) -> str:
    """Return what to do about a node that is not there, where the text does not say it."""
    if not isinstance(error, NodeNotFoundError):
        return ""
    if text.endswith("does not exist"):
        return ": check its name, or make it by zarr create"
    if text.endswith("at path ''"):
        return ": name a store that holds zarr.json, .zgroup or .zarray"
    return ": zarr tree shows what a store holds" if text.endswith("'") else ""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Say a warning without the line of code that it comes from."""
    del category, filename, lineno, file, line
    print(f"zarr: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zarr {zarr.__version__}")
        raise typer.Exit


def make_app() -> App:
    """Make the application of the table of commands."""
    made = App(
        name="zarr", help=_HELP, epilog=_EXIT_CODES, no_args_is_help=True, pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )  # fmt: skip

    def options(
        verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what is done.")] = False,
        show_traceback: Annotated[
            bool, typer.Option("--traceback", help="Show where in the code an error came from.")
        ] = False,
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        made.shows_tracebacks = show_traceback
        speak_up(verbose)

    made.callback()(options)
    groups: dict[str, typer.Typer] = {"": made}
    for panel, rows in COMMANDS.items():
        for words, command in rows.items():
            group, _, name = words.rpartition(" ")
            if group not in groups:
                groups[group] = typer.Typer(name=group, help=GROUPS[group], no_args_is_help=True)
                made.add_typer(groups[group], rich_help_panel=panel)
            example = f"Example: zarr {command.example}"
            groups[group].command(name, epilog=example, rich_help_panel=panel)(command.function)
    return made


app = make_app()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code instead of ending the process.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        0 done, 1 could not be done, 2 wrong usage.

    Examples
    --------
    >>> main(["tree", "/no/such/place"])
    1
    """
    try:
        app(None if arguments is None else list(arguments))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0
