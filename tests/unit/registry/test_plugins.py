"""Six small packages, one a kind of extension: once installed they are found by name, and nobody imports them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PLUGINS = ROOT / "tests" / "data" / "plugins"
KINDS = ("data_type", "chunk_grid", "chunk_key_encoding", "codec", "storage_transformer", "store")

# What a user writes: the names stand in documents, and no package is imported.
PROGRAM = """
    import asyncio, json, sys, pathlib, warnings
    import numpy as np
    import zarr

    def changed(folder, **members):
        zarr.create_array(folder, shape=(10, 6), chunks=(5, 3), dtype="int8", compressors=None, overwrite=True)
        place = pathlib.Path(folder) / "zarr.json"
        document = {**json.loads(place.read_text()), **members}
        place.write_text(json.dumps(document))
        array = zarr.open_array(folder)
        data = np.arange(60, dtype="int8").reshape(10, 6)
        array[...] = data
        np.testing.assert_array_equal(zarr.open_array(folder)[...], data)
        np.testing.assert_array_equal(zarr.open_array(folder)[2:9:3, [1, 5]], data[2:9:3, [1, 5]])
        return array

    def files(folder):
        root = pathlib.Path(folder)
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())

    def data_type(folder):
        array = changed(folder, data_type="example.celsius")
        made = zarr.create_array({}, shape=3, dtype="example.celsius")
        return type(array.metadata.data_type).__name__, made.metadata.to_dict()["data_type"], str(array.dtype)

    def chunk_grid(folder):
        array = changed(folder, chunk_grid={"name": "example.doubling", "configuration": {"first": [1, 2]}})
        return array.write_chunk_sizes, len(files(folder)) - 1

    def chunk_key_encoding(folder):
        changed(folder, chunk_key_encoding={"name": "example.backwards"})
        return files(folder)

    def codec(folder):
        changed(folder, codecs=[{"name": "bytes"}, {"name": "example.rotate", "configuration": {"by": 3}}])
        return list((pathlib.Path(folder) / "c/0/0").read_bytes()[:3])

    def storage_transformer(folder):
        changed(folder, storage_transformers=[{"name": "example.mask", "configuration": {"mask": 255}}])
        return list((pathlib.Path(folder) / "c/0/0").read_bytes()[:3])

    def store(folder):
        zarr.create_array("example-shelf://one", name="a", data=np.arange(3))
        return zarr.open_array("example-shelf://one", path="a", mode="r")[:].tolist()

    def broken(folder):
        wrong = {
            "data_type": "example.broken",
            "chunk_grid": {"name": "example.broken", "configuration": {}},
            "chunk_key_encoding": {"name": "example.broken"},
            "codecs": [{"name": "bytes"}, {"name": "example.broken"}],
            "storage_transformers": [{"name": "example.broken"}],
        }
        told = {}
        for member, value in wrong.items():
            try:
                changed(f"{folder}-{member}", **{member: value})
            except Exception as error:
                told[member] = f"{type(error).__name__}: {error} {getattr(error, '__notes__', '')}"
        try:
            zarr.open_group("example-broken://x")
        except Exception as error:
            told["stores"] = f"{type(error).__name__}: {error}"
        return told

    warnings.simplefilter("ignore")
    kinds = [sys.argv[1]] if sys.argv[1] != "all" else %r
    print(json.dumps({kind: globals()[kind](f"{sys.argv[2]}/{kind}") for kind in kinds}))
    imported = [name for name in sys.modules if name.startswith("zarr_example")]
    print(json.dumps(sorted(imported)))
"""


def install(kind: str, site: Path) -> None:
    """Put a package where an installer would put it, as an installer would, without the minutes of one."""
    project = tomllib.loads((PLUGINS / kind / "pyproject.toml").read_text())
    name, version = project["project"]["name"], project["project"]["version"]
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["project"]["entry-points"]
    text = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in groups.items()]
    (info / "entry_points.txt").write_text("\n".join(text))
    for module in project["tool"]["setuptools"]["py-modules"]:
        shutil.copy(PLUGINS / kind / f"{module}.py", site)


def run(site: Path, kind: str, folder: Path) -> tuple[dict[str, Any], list[str]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    program = textwrap.dedent(PROGRAM % (KINDS,))
    command = [sys.executable, "-c", program, kind, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.strip().splitlines()
    return json.loads(first), json.loads(second)


EXPECTED: dict[str, Any] = {
    "data_type": ["Celsius", "example.celsius", "int8"],
    "chunk_grid": [[[1, 2, 4, 3], [2, 4]], 8],
    "chunk_key_encoding": ["k-0-0", "k-0-1", "k-1-0", "k-1-1", "zarr.json"],
    "codec": [3, 4, 5],
    "storage_transformer": [255, 254, 253],
    "store": [0, 1, 2],
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[str]]:
    """All six, and the broken one beside them."""
    site = tmp_path_factory.mktemp("site")
    for kind in (*KINDS, "broken"):
        install(kind, site)
    return run(site, "all", tmp_path_factory.mktemp("data"))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_found_by_name_beside_a_broken_one(everything: tuple[dict[str, Any], list[str]], kind: str) -> None:
    found, imported = everything
    assert found[kind] == EXPECTED[kind]
    assert f"zarr_example_{kind}" in imported


def test_a_broken_one_is_named(tmp_path: Path) -> None:
    install("broken", tmp_path / "site")
    told = run(tmp_path / "site", "broken", tmp_path)[0]["broken"]
    assert sorted(told) == ["chunk_grid", "chunk_key_encoding", "codecs", "data_type", "storage_transformers", "stores"]
    for member, message in told.items():
        assert "broken" in message, (member, message)
        assert "zarr_example_that_is_not_there" in message, (member, message)
        assert "'zarr-example-broken'" in message, (member, message)


def test_without_the_packages_the_names_are_unknown(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"example\.rotate"):
        run(tmp_path, "codec", tmp_path)


@pytest.mark.slow
def test_an_installer_installs_them(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    for kind in KINDS:
        shutil.copytree(PLUGINS / kind, tmp_path / kind)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    places = [str(tmp_path / kind) for kind in KINDS]
    command += ["--target", str(tmp_path / "site"), *places]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if "No module named pip" in done.stderr:
        pytest.skip("there is no pip here")
    assert done.returncode == 0, done.stderr
    (tmp_path / "data").mkdir()
    assert run(tmp_path / "site", "all", tmp_path / "data")[0] == EXPECTED
