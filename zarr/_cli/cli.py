"""The command line ``zarr``: the application, the table of commands, and how errors are printed.

To add a command, write a function whose parameters are annotated for typer, and give it a row in ``COMMANDS``. Its
docstring is its help. It prints its answer, and raises an error if something cannot be done.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple

import typer

import zarr
from zarr._cli.answers import FoundError, NotAgreedError
from zarr._cli.change import consolidate, copy, get_attributes, move, rm, set_attributes, unset_attributes
from zarr._cli.checks import checksum, diff, repair, stats, verify
from zarr._cli.create import create
from zarr._cli.layouts import coarsen, convert, rechunk, reencode
from zarr._cli.look import du, info, ls, serve, stat, tree, view
from zarr._cli.measure import bench, tune
from zarr._cli.migrate import CLIZarrFormat, CLIZarrFormatV3, migrate, remove_metadata, speak_up
from zarr._cli.values import cat, plot
from zarr.errors import ContainsArrayError, ContainsGroupError, NodeNotFoundError

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
    """The text after ``zarr`` in the example of the help."""


COMMANDS: Final[dict[str, dict[str, Command]]] = {
    "Look at data": {
        "info": Command(info, "info data.zarr"),
        "tree": Command(tree, "tree data.zarr --level 1"),
        "ls": Command(ls, "ls -l s3://bucket/data.zarr --option anon=true"),
        "cat": Command(cat, 'cat data.zarr::temperature --select "0:10,5" --format csv'),
        "plot": Command(plot, 'plot data.zarr::temperature map.png --select "0"'),
        "stat": Command(stat, "stat data.zarr::temperature"),
        "du": Command(du, "du -h data.zarr"),
        "serve": Command(serve, "serve data.zarr --port 8000"),
        "view": Command(view, "view data.zarr"),
    },
    "Change data": {
        "create": Command(
            create, "create data.zarr::x --shape 100,100 --dtype f4 --chunks 10,10 --codec zstd:5 --attr units=K"
        ),
        "copy": Command(copy, "copy data.zarr backup.zip --if-exists skip"),
        "move": Command(move, "move data.zarr::temp ::temperature"),
        "rm": Command(rm, "rm data.zarr::temperature"),
        "attrs get": Command(get_attributes, "attrs get data.zarr::temperature units"),
        "attrs set": Command(set_attributes, 'attrs set data.zarr::temperature units=K "valid=[0, 400]"'),
        "attrs unset": Command(unset_attributes, "attrs unset data.zarr::temperature units"),
    },
    "Change the layout": {
        "rechunk": Command(rechunk, "rechunk data.zarr series.zarr --chunks time=-1,lat=10,lon=10"),
        "reencode": Command(reencode, "reencode data.zarr small.zarr --codec zstd:9"),
        "coarsen": Command(coarsen, "coarsen image.zarr pyramid.zarr --method max"),
        "convert": Command(convert, "convert weather.nc weather.zarr --chunks time=100,lat=-1,lon=-1"),
    },
    "Measure": {
        "tune": Command(tune, "tune data.zarr::temperature --reads time-series,map --apply tuned.zarr"),
        "bench": Command(bench, "bench data.zarr::temperature --write"),
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
"""All commands by their panel of the help; two words are a command of a group of commands."""

GROUPS: Final = {"attrs": "Get, set and remove attributes."}

_USAGE_ERROR: Final[Any] = typer.BadParameter.__mro__[1]
"""The base of the errors about words of a command, of click or of the copy of it that typer has."""

_EXPECTED: Final = (
    NotAgreedError, FoundError, OSError, ValueError, TypeError, LookupError, ImportError, NotImplementedError,
)  # fmt: skip
"""Errors that are printed without the name of their class; others come from libraries below and need it."""

_OUR_WORDS: Final = {
    "convert it with zarr.tools.convert, or": "convert it by zarr convert, or",
    "overwrite=True": "--overwrite",
    "resume=True": "--resume",
    "use the 'force' option": "say --force",
    "see if_exists": "say --if-exists skip or --if-exists replace",
    "No group found in store": "No array or group found in store",
    "'storage_options' was provided but unused.": "--option is for URLs: leave it out.",
    "Install s3fs to access S3": "the package s3fs is missing: pip install s3fs",
    'HTTPFileSystem requires "requests" and "aiohttp" to be installed': (
        "the package aiohttp is missing: pip install aiohttp requests"
    ),
    "Unable to locate credentials": "Unable to locate credentials: say --option anon=true if the data are public",
}
"""Texts of the library, and their replacements for the command line."""

_HELP = """Look at zarr data, copy and change them.

STORE is a folder, a zip file or a URL. A node in it follows after :: as in data.zarr::temperature.
"""
_EXIT_CODES = "Exit codes: 0 done; 1 could not be done, a line on stderr says why; 2 wrong usage; 130 stopped."


class App(typer.Typer):
    """A typer application that prints errors and warnings in one line each."""

    shows_tracebacks = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command of the process's arguments."""
        self.shows_tracebacks = False
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            try:
                sys.exit(super().__call__(*args, **{"prog_name": "zarr", "standalone_mode": False, **kwargs}) or 0)
            except Exception as error:
                if isinstance(error, _USAGE_ERROR):
                    sys.exit(_say_usage(error))
                if self.shows_tracebacks:
                    traceback.print_exception(error)
                print(f"zarr: {one_line(error)}", file=sys.stderr)
                sys.exit(1)


def _say_usage(error: Any) -> int:
    """Say what is wrong with the words of a command, and return the exit code; a group of commands shows its help."""
    command = error.ctx.command_path if error.ctx is not None else "zarr"
    text = " ".join(error.format_message().split()).replace("Value error, ", "")
    if text.endswith(": --overwrite") and any(each.name == "if_exists" for each in error.ctx.command.params):
        text += ", say --if-exists replace"
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        print(f"zarr: {text.rstrip('.')} (see {command} --help)", file=sys.stderr)
    return int(error.exit_code)


def one_line(error: Exception) -> str:
    """Return the message of an error, in one line and with the options of the command line.

    Examples
    --------
    >>> one_line(KeyError("no such attribute"))
    'no such attribute'
    >>> one_line(RuntimeError("the server\\nis busy"))
    'RuntimeError: the server is busy'
    """
    text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    text += _way_out(error, text)
    for theirs, ours in _OUR_WORDS.items():
        text = text.replace(theirs, ours)
    if not text or not isinstance(error, _EXPECTED):
        text = f"{type(error).__name__}: {text}"
    return " ".join(text.split())


def _way_out(error: Exception, text: str) -> str:
    """Return advice about a node that exists, or does not, if the text has none."""
    if isinstance(error, ContainsArrayError | ContainsGroupError):
        return " Replace it with --overwrite."
    if not isinstance(error, NodeNotFoundError):
        return ""
    if text.endswith("does not exist"):
        return ": check its name, or make it by zarr create"
    if text.endswith("at path ''"):
        return ": name a store that holds zarr.json, .zgroup or .zarray"
    return ": zarr tree shows what a store holds" if text.endswith("'") else ""


def _show_warning(message: Warning | str, *_others: Any) -> None:
    """Print a warning without its line of code."""
    print(f"zarr: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"zarr {zarr.__version__}")
        raise typer.Exit


def make_app() -> App:
    """Make the application from the table of commands."""
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
        0 done, 1 could not be done, 2 wrong usage, 130 stopped by Ctrl-C.

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
