"""zarr-core beside another zarr: chosen for a process and its children, and nothing changes where it is not."""

from __future__ import annotations

from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

import zarr_core
from tests.packaging.environments import (
    DIST_INFO,
    OTHER_ZARR,
    OWN_VERSION,
    ROOT,
    VERSION,
    make_environment,
    make_plain_wheel,
    make_wheel_beside,
    run,
)

if not (ROOT / "ci" / "beside").exists() or zarr_core.IMPLEMENTATION != "compiled":
    pytest.skip("wheels are made of the source tree with its compiled core", allow_module_level=True)

OURS = VERSION
ASK = "import zarr; from importlib.metadata import version; print(zarr.__version__, version('zarr'))"
CHILDREN = """
import multiprocessing, sys
from importlib.metadata import version

def ask(_):
    import zarr
    return f"{zarr.__version__} {version('zarr')}"

if __name__ == "__main__":
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(*pool.map(ask, [0]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    return make_wheel_beside(make_plain_wheel(folder), folder)


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("environment"), wheel)


def test_the_wheel_has_no_package_zarr(wheel: Path) -> None:
    assert wheel.name == f"zarr_core-{OWN_VERSION}-cp311-cp311-linux_x86_64.whl"
    with ZipFile(wheel) as files:
        names = files.namelist()
        record = files.read(f"zarr_core-{OWN_VERSION}.dist-info/RECORD").decode().splitlines()
        metadata = message_from_string(files.read(f"zarr_core-{OWN_VERSION}.dist-info/METADATA").decode())
        inside = files.read(f"zarr_core/_front/{DIST_INFO}/RECORD").decode().splitlines()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"zarr_core", "zarr_core.pth", "_zarr_core_start.py", f"zarr_core-{OWN_VERSION}.dist-info"}
    assert sorted(line.partition(",")[0] for line in record) == sorted(names)
    assert "zarr/__init__.py" in {line.partition(",")[0] for line in inside}
    assert (metadata["Name"], metadata["Version"]) == ("zarr-core", OWN_VERSION)
    # An extra must not bring another zarr; and the page below the head stays as it is.
    assert metadata.get_all("Requires-Dist") == ["numpy>=2.0", 'zarr-core[cli,remote]; extra == "all"']
    assert metadata.get_payload() == "Name: zarr is a line of the page\n"


def test_it_shares_no_file_with_another_zarr(wheel: Path) -> None:
    with ZipFile(wheel) as files:
        assert not set(files.namelist()) & set(OTHER_ZARR)


def test_messages_name_the_extras_of_zarr_core(python: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['awkward'] = None; import zarr; zarr.zeros(2).to_awkward()"
    done = run(python, "-c", code, folder=tmp_path, ZARR_CORE="1")
    assert done.stderr.rstrip().endswith("to_awkward needs the package awkward: pip install 'zarr-core[awkward]'")


@pytest.mark.parametrize("value", [None, "", "0"])
def test_nothing_changes_without_the_variable(python: Path, tmp_path: Path, value: str | None) -> None:
    variables = {} if value is None else {"ZARR_CORE": value}
    done = run(python, "-c", f"{ASK}\nimport sys; print('zarr_core' in sys.modules)", folder=tmp_path, **variables)
    assert done.stdout.splitlines() == ["3.4.2 3.4.2", "False"], done.stderr


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["-c", ASK], {"ZARR_CORE": "1"}),
        (["-m", "zarr_core", "-c", ASK], {}),
        (["-m", "zarr_core", "ask.py"], {}),
        (["-m", "zarr_core", "-m", "ask"], {}),
        (["-c", f"import zarr_core.install; {ASK}"], {}),
        (["-c", f"import zarr_core.install, zarr; import zarr_core.install; {ASK}"], {}),
        (["-c", f"import zarr_core; zarr_core.load_ipython_extension(None); {ASK}"], {}),
        (["-m", "zarr_core", "-c", f"import zarr_core.install; {ASK}"], {"ZARR_CORE": "1"}),
    ],
)
def test_it_is_chosen(python: Path, tmp_path: Path, arguments: list[str], variables: dict[str, str]) -> None:
    (tmp_path / "ask.py").write_text(ASK)
    done = run(python, *arguments, folder=tmp_path, **variables)
    assert done.stdout == f"{OURS} {OURS}\n", done.stderr


def test_children_have_it(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(CHILDREN)
    methods = ["spawn", "fork", "forkserver"]
    done = run(python, "-m", "zarr_core", "program.py", *methods, folder=tmp_path)
    assert done.stdout.splitlines() == [f"{OURS} {OURS}"] * 3, done.stderr
    done = run(python, "program.py", *methods, folder=tmp_path)
    assert done.stdout.splitlines() == ["3.4.2 3.4.2"] * 3, done.stderr


def test_it_works_and_finds_what_others_offer(python: Path, tmp_path: Path) -> None:
    code = """
import zarr, zarr.storage
from importlib.metadata import entry_points, files
array = zarr.create_array("a.zarr", data=[[1, 2], [3, 4]], chunks=(1, 2))
assert zarr.open_array("a.zarr", mode="r")[1].tolist() == [3, 4]
assert [point.value for point in entry_points(group="zarr.codecs")] == ["builtins:dict"]
assert [point.dist.version for point in entry_points(group="pytest11") if point.name == "zarr"] == [zarr.__version__]
assert all(file.locate().exists() for file in files("zarr"))
assert zarr.config.get("json_indent") == 2
print(zarr.__file__)
"""
    done = run(python, "-W", "error", "-c", code, folder=tmp_path, ZARR_CORE="1")
    assert done.stdout.strip().endswith(str(Path("zarr_core", "_front", "zarr", "__init__.py"))), done.stderr


def test_a_folder_that_is_called_zarr_is_not_taken(python: Path, tmp_path: Path) -> None:
    (tmp_path / "zarr").mkdir()
    (tmp_path / "zarr" / "__init__.py").write_text("raise AssertionError")
    done = run(python, "-c", ASK, folder=tmp_path, ZARR_CORE="1")
    assert done.stdout == f"{OURS} {OURS}\n", done.stderr


def test_too_late_is_an_error(python: Path, tmp_path: Path) -> None:
    done = run(python, "-c", "import zarr, zarr_core.install", folder=tmp_path)
    assert "zarr is imported already, from " in done.stderr
    assert "python -m zarr_core program.py" in done.stderr
    assert done.returncode == 1


def test_the_start_of_python_loads_little(python: Path, tmp_path: Path) -> None:
    code = "import sys; print(*sorted(set(sys.modules) & {'numpy', 'typing', 're', 'pathlib', 'importlib.metadata'}))"
    done = run(python, "-c", code, folder=tmp_path, ZARR_CORE="1")
    plain = run(python, "-c", code, folder=tmp_path)
    assert done.stdout == plain.stdout, done.stderr


def test_a_program_is_compared(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; print('one'); import zarr; print(zarr.__version__)")
    done = run(python, "-m", "zarr_core", "compare", "program.py", folder=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["zarr", "3.4.2", OURS], done.stderr
    assert [line.split()[0] for line in lines] == ["zarr", "seconds", "peak", "exit", "output"]
    assert lines[-1].endswith(f"differs first in line 2: '3.4.2', '{OURS}'")
    assert done.returncode == 1
    (tmp_path / "program.py").write_text("import sys; import zarr; print('one', *sys.argv[1:])")
    done = run(python, "-m", "zarr_core", "compare", "program.py", "two", folder=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1].split(maxsplit=1)[1]) == (0, "the same, 8 bytes")


def test_a_program_that_fails_is_told(python: Path, tmp_path: Path) -> None:
    code = "import sys, zarr; sys.exit(3 if 'core' in zarr.__version__ else 0)"
    assert run(python, "-m", "zarr_core", "-c", code, folder=tmp_path).returncode == 3
    done = run(python, "-m", "zarr_core", "compare", "-c", code, folder=tmp_path)
    assert done.stdout.splitlines()[3].split() == ["exit", "status", "0", "3"]
    assert done.returncode == 1


def test_where_it_is_the_installed_zarr_nothing_is_to_be_done(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment", make_plain_wheel(tmp_path))
    code = "import zarr, zarr_core.install; print(zarr_core.install.is_installed(), zarr.__file__)"
    done = run(python, "-m", "zarr_core", "-c", code, folder=tmp_path)
    assert done.stdout.startswith("False "), done.stderr
    assert "_front" not in done.stdout
    done = run(python, "-m", "zarr_core", "compare", "-c", "pass", folder=tmp_path)
    assert "needs two libraries" in done.stderr
