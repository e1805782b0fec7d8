"""The commands as a typer application; imported only where typer is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from zarr._cli.commands import CLIZarrFormat, CLIZarrFormatV3, info, ls, migrate, remove_metadata, tree

Store = Annotated[str, typer.Argument(help="A folder, a zip file or a URL.")]
NodePath = Annotated[str | None, typer.Argument(help="The path of a node in the store; by default its root.")]
DryRun = Annotated[bool, typer.Option(help="Only say what would be done.")]
Force = Annotated[bool, typer.Option(help="Remove metadata even where there is none of the other format.")]

_LOOKS: dict[str, Callable[..., str]] = {"info": info, "tree": tree, "ls": ls}


class App(typer.Typer):
    """A typer application that prints expected errors in one line."""

    def __init__(self, expected: tuple[type[Exception], ...], **options: Any) -> None:
        super().__init__(**options)
        self.expected = expected

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command of the process's arguments."""
        try:
            return super().__call__(*args, **kwargs)
        except self.expected as error:
            print(f"zarr: {error}", file=sys.stderr)
            sys.exit(1)


def make_app(
    speak_up: Callable[[], None], say: Callable[[str | None], None], expected: tuple[type[Exception], ...]
) -> App:
    """Make the application.

    Parameters
    ----------
    speak_up
        Called where the user wants to see what is done.
    say
        Prints what a command returns.
    expected
        The errors that the program says in one line.

    Returns
    -------
    App
    """
    app = App(expected, name="zarr", help="Look at zarr stores and migrate their metadata.", no_args_is_help=True)

    def options(verbose: Annotated[bool, typer.Option(help="Say what is done.")] = False) -> None:
        if verbose:
            speak_up()

    app.callback()(options)
    _add_changes(app, speak_up)
    _add_looks(app, say)
    return app


def _add_changes(app: App, speak_up: Callable[[], None]) -> None:
    """Add the commands that change a store."""

    def migrate_command(
        zarr_format: Annotated[CLIZarrFormatV3, typer.Argument(help="The format to migrate to.")],
        input_store: Store,
        output_store: Annotated[str | None, typer.Argument(help="By default the input store.")] = None,
        dry_run: DryRun = False,
        overwrite: Annotated[bool, typer.Option(help="First remove metadata of format 3 that is there.")] = False,
        force: Force = False,
        remove_v2_metadata: Annotated[bool, typer.Option(help="At the end remove metadata of format 2.")] = False,
    ) -> None:
        if dry_run:
            speak_up()
        migrate(zarr_format, input_store, output_store, dry_run, overwrite, force, remove_v2_metadata)

    def remove_command(
        zarr_format: Annotated[CLIZarrFormat, typer.Argument(help="The format whose metadata go.")],
        store: Store,
        force: Force = False,
        dry_run: DryRun = False,
    ) -> None:
        if dry_run:
            speak_up()
        remove_metadata(zarr_format, store, force, dry_run)

    app.command("migrate", help=_summary(migrate))(migrate_command)
    app.command("remove-metadata", help=_summary(remove_metadata))(remove_command)


def _add_looks(app: App, say: Callable[[str | None], None]) -> None:
    """Add the commands that look at a store."""

    def info_command(store: Store, path: NodePath = None) -> None:
        say(info(store, path))

    def tree_command(
        store: Store, path: NodePath = None, level: Annotated[int | None, typer.Option(help="How deep.")] = None
    ) -> None:
        say(tree(store, path, level))

    def ls_command(
        store: Store,
        path: NodePath = None,
        long: Annotated[bool, typer.Option("--long", "-l", help="With kind, shape and dtype.")] = False,
    ) -> None:
        say(ls(store, path, long))

    for name, command in (("info", info_command), ("tree", tree_command), ("ls", ls_command)):
        app.command(name, help=_summary(_LOOKS[name]))(command)


def _summary(command: Callable[..., Any]) -> str:
    return (command.__doc__ or "").splitlines()[0]
