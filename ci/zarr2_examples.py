"""The examples of zarr 2.18.7's tutorial and docstrings: those that work with it work with this project.

Takes them from its source distribution, runs each page and each docstring in an empty folder with zarr 2.18.7 and with
this project, and compares. Exits with 1 if an example raises an error here and not there, or if what it prints differs
in more than the form of objects and ``ACCEPTED`` does not name it. Needs no network: examples that do fail with both.

    bash ci/zarr2_tests.sh --examples
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from zarr2_tests import ROOT, WORK, python_of_reference, unpack_source

SECONDS = 120
NETWORK = ("s3fs", "gcsfs", "azure")
"""Packages that examples reach the network with: kept out of both runs."""

MISSING = "a member that the network would have shown; 2.18.7 makes a group of any name in N5"
FORMAT = "new arrays are of format 3"
ACCEPTED = {
    ("zarr.core.Array.digest", "z.digest()"): FORMAT,
    ("zarr.core.Array.hexdigest", "z.hexdigest()"): FORMAT,
    ("docs/tutorial.rst", "z[:]", "b'world!', b''"): "3.4 wins: the fill value 0 of bytes is b'0'",
    ("zarr.hierarchy.Group.tree", "level=2"): "3.4 wins: levels are counted from the members",
    ("zarr.convenience.copy", "except zarr.CopyError"): "the words of an error",
    ("zarr.core.Array.view", "except PermissionError"): "the words of an error",
    ("docs/tutorial.rst", "z.compressor", "Zstd(level=1)"): "3.4 wins: it warns that zarr.storage.default_compressor "
    "has no effect",
    ("docs/tutorial.rst", "z.compressor", "LZMA"): "the order of a codec's parameters",
    ("docs/tutorial.rst", "z.filters", "VLenUTF8"): FORMAT,
    ("zarr.storage.MemoryStore", "type(z.store)"): "3.4 wins: a dict is kept by a MemoryStore",
    ("docs/tutorial.rst", "z", "'/foo/bar/baz'"): MISSING,
    ("docs/tutorial.rst", "z[:]", "'/foo/bar/baz/slice"): MISSING,
    ("docs/tutorial.rst", "timed_write"): "times",
    ("docs/tutorial.rst", "z = root['foo/bar/baz']"): MISSING,
}
"""(Where, part of the example, part of what 2.18.7 prints): why what is printed differs."""


class Example(NamedTuple):
    """An example, the error that it raised, and what it printed."""

    where: str
    source: str
    error: str
    printed: str


# ----------------------------------------------------------------------------------------- running, in either


def find_examples(source: Path) -> Iterator[tuple[str, list[doctest.Example]]]:
    """Yield the examples of each page and each docstring."""
    for option in ("REMOTE_DATA", "IPYTREE"):
        doctest.register_optionflag(option)
    parse = doctest.DocTestParser().get_examples
    for page in sorted((source / "docs").rglob("*.rst")):
        yield page.relative_to(source).as_posix(), parse(page.read_text())
    for file in sorted((source / "zarr").rglob("*.py")):
        if "tests" not in file.parts:
            module = ".".join(file.relative_to(source).with_suffix("").parts)
            for name, docstring in find_docstrings(ast.parse(file.read_text()), module):
                yield name, parse(docstring)


def find_docstrings(node: ast.AST, path: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of the classes and functions below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            name = f"{path}.{child.name}"
            yield name, ast.get_docstring(child) or ""
            yield from find_docstrings(child, name)


def run_examples(source: Path) -> list[Example]:
    """Run all examples in this interpreter, those of a page or docstring in a folder of their own."""
    for name in NETWORK:
        sys.modules[name] = None  # type: ignore[assignment]
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError(f"more than {SECONDS} s")))
    done = []
    for where, examples in find_examples(source):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            Path("data").mkdir()
            names: dict[str, Any] = {}
            done += [run_example(where, example, names) for example in examples]
    return done


def run_example(where: str, example: doctest.Example, names: dict[str, Any]) -> Example:
    """Run one example as at the prompt."""
    printed, error = io.StringIO(), ""
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(example.source, where, "single"), names)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"[:300]
    finally:
        signal.alarm(0)
    return Example(where, example.source.strip(), error, printed.getvalue().strip())


# ------------------------------------------------------------------------------------------------- comparing

FORMS = [
    (r"<zarr\.core\.Array(?: '[^']*')? (\([\d, ]*\)) (\S+?)(?: read-only)?>", r"<Array \1 \2>"),
    (r"<Array \S+ shape=(\([\d, ]*\)) dtype=(\S+)>", r"<Array \1 \2>"),
    (r"<zarr\.hierarchy\.Group '[^']*'(?: read-only)?>|<Group \S+>", "<Group>"),
    (r"<class '[\w.]+\.(\w+)'>", r"<class \1>"),
    (r"(?:np\.\w+|\barray)\(('[^']*'|[^\[\](),']+)(?:, dtype=[^()]*)?\)", r"\1"),
    (r"StringDType\(\)", "object"),
    (r"^[\[(](\w+\(.*?\)),?[\])]$|^\(\)$", r"\1"),
    (r"^/?(\w*)(?=\n[│├└])", r"\1"),
]
"""The forms of objects in 2.18.7 and here, made alike."""


def in_one_form(text: str) -> str:
    """Return what was printed, without what differs in the form of objects alone."""
    if re.search(r"^ [├└]", text, flags=re.MULTILINE):  # a tree, one column further to the right
        text = re.sub(r"^ ", "", text, flags=re.MULTILINE)
    for pattern, replacement in FORMS:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def reason_for(theirs: Example) -> str | None:
    """Return why something else is printed; None where no reason is known."""
    if theirs.source.endswith(".info"):
        return "a summary"
    for (where, source, *printed), reason in ACCEPTED.items():
        if theirs.where == where and source in theirs.source and all(part in theirs.printed for part in printed):
            return reason
    return None


def compare(theirs: list[Example], ours: list[Example]) -> int:
    """Print how the examples went; return the exit code."""
    raising, differing, reasons = [], [], dict[str, int]()
    for there, here in zip(theirs, ours, strict=True):
        if here.error and not there.error and reason_for(there) is None:
            raising.append(f"{here.where}: {here.source}\n    {here.error}")
        elif not there.error and in_one_form(there.printed) != in_one_form(here.printed):
            reason = reason_for(there)
            if reason is None:
                differing.append(f"{here.where}: {here.source}\n--- 2.18.7\n{there.printed}\n--- here\n{here.printed}")
            else:
                reasons[reason] = reasons.get(reason, 0) + 1
    failed = sum(bool(example.error) for example in theirs)
    print(f"{len(theirs)} examples, {failed} of them raise with zarr 2.18.7; {len(raising)} raise here only")
    print(f"{sum(reasons.values())} print something else for a reason, {len(differing)} without one")
    print("\n".join(f"{count:5} {reason}" for reason, count in reasons.items()))
    print("\n".join([*raising, *differing]))
    return 1 if raising or differing else 0


def run_in(python: str, kind: str, source: Path) -> list[Example]:
    """Run the examples with an interpreter."""
    report, environment = WORK / f"examples-{kind}.json", os.environ | {"PYTHONWARNINGS": "ignore"}
    if kind == "ours":
        environment["PYTHONPATH"] = str(ROOT)
    with (WORK / f"examples-{kind}.log").open("w") as log:
        command = [python, __file__, "--run", str(source), str(report)]
        subprocess.run(command, check=True, env=environment, stdout=log, stderr=log)
    return [Example(*each) for each in json.loads(report.read_text())]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        Path(sys.argv[3]).write_text(json.dumps(run_examples(Path(sys.argv[2]))))
    else:
        folder = unpack_source()
        reference = run_in(python_of_reference(), "theirs", folder)
        sys.exit(compare(reference, run_in(sys.executable, "ours", folder)))
