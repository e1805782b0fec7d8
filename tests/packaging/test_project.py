"""What pyproject.toml declares: one version, lower bounds of all that is needed, each extra that a message names."""

from __future__ import annotations

import re
import tomllib

import pytest

import zarr
from tests.packaging.environments import ROOT
from zarr.defaults import CODEC_EXTRAS
from zarr.tools.conversion.formats import FORMATS

if not (ROOT / "pyproject.toml").exists() or not (ROOT / "zarr").exists():
    pytest.skip("needs the source tree", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
NAMED = re.compile(r"""zarr\[([\w-]+)\]|load_extra\("[\w.]+", "(\w+)\"""")


def test_the_version_stands_in_one_place() -> None:
    assert zarr.__version__ == PROJECT["version"]
    held = [path for path in [*ROOT.glob("zarr/**/*.py"), *ROOT.glob("zarr_core/*.py"), *ROOT.glob("*.cff")]
            if PROJECT["version"].partition("+")[2] in path.read_text()]  # fmt: skip
    assert not held


def test_the_conda_recipe_has_the_version_and_the_needs_of_the_project() -> None:
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    text = (ROOT / "conda.recipe" / "meta.yaml").read_text()
    names = {"load_file_data": lambda *path, **options: {"project": PROJECT}, "PYTHON": "python"}
    recipe = yaml.safe_load(jinja2.Template(text).render(**names, compiler=lambda language: f"{language}-compiler"))
    assert recipe["package"] == {"name": "zarr-core", "version": PROJECT["version"].partition("+core.")[2]}
    assert recipe["about"]["summary"] == PROJECT["description"]
    needs = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    run = [needed.replace(" ", "").replace("-", "_") for needed in recipe["requirements"]["run"]]
    assert run == [each.replace("-", "_") for each in needs]


def test_everything_that_is_needed_has_a_lower_bound() -> None:
    needed = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
    assert not [each for each in needed if not re.search(r">=|==|^zarr\[", each)]


def test_every_extra_that_is_named_is_there() -> None:
    named = {
        found[0] or found[1]
        for path in ROOT.glob("zarr/**/*.py")
        for found in NAMED.findall(path.read_text())
    }
    formats = {row.extra for row in FORMATS.values() if row.extra}
    assert {"arrow", "cli", "dask", "lmdb"} <= named
    assert named | formats | {*CODEC_EXTRAS.values()} <= {*EXTRAS}


def test_all_brings_every_extra_of_users() -> None:
    (everything,) = EXTRAS["all"]
    assert {*re.findall(r"[\w-]+", everything)} - {"zarr"} == {*EXTRAS} - {"all", "docs", "gpu", "test"}
