"""What developers do daily: ``nox -s lint``, ``nox -s quick``; ``nox -l`` for all. Each session is a script of ci/."""

import nox

nox.options.sessions = ["lint", "quick"]
nox.options.default_venv_backend = "none"  # the scripts make their own environments
PYTHON = ".venv-test/bin/python"


def script(session: nox.Session, *command: str) -> None:
    session.run(*command, *session.posargs, external=True)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types, layers, sizes, module state and docstrings."""
    for check in ("layers", "shape", "module_state", "docstrings"):
        script(session, PYTHON, f"ci/check_{check}.py")
    script(session, ".venv-test/bin/ruff", "check", ".")
    script(session, ".venv-test/bin/mypy", "--no-error-summary", "zarr")


@nox.session
def quick(session: nox.Session) -> None:
    """Build, check, and run the tests that take a few seconds."""
    script(session, "bash", "ci/test.sh", "quick")


@nox.session
def full(session: nox.Session) -> None:
    """Run all that continuous integration runs."""
    script(session, "bash", "ci/test.sh")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site into .docs."""
    script(session, "bash", "ci/docs.sh")


@nox.session
def threads(session: nox.Session) -> None:
    """Run the tests of threads while threads change places at every step."""
    script(session, "bash", "ci/threads.sh", PYTHON)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build, repair and test the wheels for all interpreters of this machine."""
    script(session, "bash", "ci/wheels.sh")


@nox.session
def versions(session: nox.Session) -> None:
    """Test the lowest and the newest versions of what the library needs, and each extra alone."""
    script(session, "bash", "ci/versions.sh")
