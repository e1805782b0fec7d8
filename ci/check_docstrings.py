"""Check the docstrings of all public names with numpydoc's validator: ``python ci/check_docstrings.py [NAME ...]``.

A public name is one that a module of the reference offers (``docs/site/pages.py`` lists the modules), or a method or
property of such a class that this library defines. A method that overrides another one, or is that of an interface (one
of the classes of ``INTERFACES``), says in a sentence what is its own; parameters and results stand there. ``--count``
prints how often each rule is broken.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from numpydoc.validate import validate

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "site")]

import pages  # noqa: E402

RULES = {
    "GL08": "has a docstring",
    "PR01": "documents each parameter",
    "PR02": "documents no parameter that is not there",
    "PR07": "says what each parameter means",
    "RT01": "says what is returned",
    "SS05": "begins with an imperative sentence",
    "EX01": "has an example",
    "RS01": "names each error that it raises itself",
}
"""The rules that are checked. Rules about capital letters and full stops in lists are left out."""
MEMBERS_NOT_LISTED = ("zarr.testing.store",)
"""Modules of classes that are inherited whole."""
WITH_EXAMPLES = ("zarr.Array", "zarr.Group")
"""Classes whose methods have an example each; elsewhere functions and classes have one."""
INTERFACES = {
    **{module: pages.public_names(module) for module in ("zarr.abc.store", "zarr.abc.codec")},
    "zarr.dtype": ["ZDType"],
    "zarr.chunks": ["DimensionGrid", "ChunkGridMetadata"],
}


def own(member: Any) -> Any:
    """Return the function of a method or property, if this library defines it."""
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    function = inspect.unwrap(function) if callable(function) else None
    return function if (getattr(function, "__module__", None) or "").startswith("zarr.") else None


def interfaces() -> list[type]:
    """Return the classes that say what the methods of stores, codecs and data types take and return."""
    found = [getattr(importlib.import_module(module), name) for module in INTERFACES for name in INTERFACES[module]]
    return [each for each in found if inspect.isclass(each)]


def is_of_above(cls: type, name: str) -> bool:
    """Return whether a class above, or an interface, documents the method or property, too."""
    if issubclass(cls, MutableMapping) and hasattr(MutableMapping, name):
        return True
    first = next(each for each in cls.__mro__ if name in vars(each))
    above = [vars(each).get(name) for each in (*first.__mro__[1:], *interfaces()) if each is not first]
    return any(own(each) and inspect.getdoc(each) for each in above if each is not None)


def public_names() -> Iterator[str]:
    """Yield the dotted name of each public object, classes followed by their methods and properties."""
    for module in pages.MODULES:
        for name in pages.public_names(module):
            yield f"{module}.{name}"
            found = getattr(importlib.import_module(module), name)
            if not inspect.isclass(found) or issubclass(found, BaseException) or module in MEMBERS_NOT_LISTED:
                continue
            for each in dir(found):
                if each.startswith("_") or not own(inspect.getattr_static(found, each)):
                    continue
                if name in ("ArrayLike", "NDArrayLike"):
                    continue  # their methods are those of NumPy's arrays
                if not is_of_above(found, each):
                    yield f"{module}.{name}.{each}"


def is_artefact(name: str, rule: str, message: str) -> bool:
    """Return whether a finding is about what the validator cannot know.

    An error takes texts, as all errors do; an interface is not made; a parameter may be private; of a function that
    takes any name the docstring lists those that mean something; nothing is said about None as a result.
    """
    if rule == "PR01" and ("*args" in message or "{'_" in message):
        return module_of(name) != "zarr"
    try:
        signature = inspect.signature(object_of(name))
    except (TypeError, ValueError):  # a property, an error, a typed dictionary
        return False
    if rule == "RT01":
        return signature.return_annotation in (None, "None")
    takes_any_name = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values())
    return rule in ("PR01", "PR02") and takes_any_name


def object_of(name: str) -> Any:
    """Return what a dotted name means."""
    module = next(each for each in sorted(pages.MODULES, key=len, reverse=True) if name.startswith(f"{each}."))
    found = importlib.import_module(module)
    for part in name[len(module) + 1 :].split("."):
        found = getattr(found, part)
    return found


def module_of(name: str) -> str:
    """Return the name of the module or class that holds a name."""
    return name.rpartition(".")[0]


def needs_example(name: str) -> bool:
    """Return whether a function, a class or a method is one that users call first: it has an example."""
    module, _, last = name.rpartition(".")
    if module.startswith(("zarr.errors", "zarr.abc", "zarr.testing")):
        return False
    if module in pages.MODULES:
        return True
    return module in WITH_EXAMPLES and callable(getattr(getattr(importlib.import_module("zarr"), module[5:]), last))


def unnamed_errors(name: str) -> Iterator[tuple[str, str]]:
    """Yield a finding for each class of errors that a function raises and its docstring does not name."""
    function = own(object_of(name))
    if not inspect.isfunction(function):
        return
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    names = {call.func.id for call in calls if isinstance(call.func, ast.Name) and call.func.id[0].isupper()}
    for error in sorted(names - {"NotImplementedError"}):  # the error of an interface
        if error not in (inspect.getdoc(function) or ""):
            yield "RS01", f"raises {error} and does not name it"


def findings(names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the rule and the message of each finding; an inherited docstring is looked at once."""
    seen = set()
    for name in names or public_names():
        found = validate(name)
        place = found["file"], found["file_line"], found["docstring"]
        if place in seen:
            continue
        seen.add(place)
        for rule, message in [*found["errors"], *unnamed_errors(name)]:
            if rule in RULES and not is_artefact(name, rule, message) and (rule != "EX01" or needs_example(name)):
                yield name, rule, message


def main(arguments: list[str]) -> int:
    """Print the findings; the exit code is 1 if there are any."""
    warnings.simplefilter("ignore")
    count = "--count" in arguments
    found = list(findings([each for each in arguments if each != "--count"]))
    if count:
        for rule, number in Counter(rule for _, rule, _ in found).most_common():
            print(f"{number:5} {rule} {RULES[rule]}")
    else:
        for name, rule, message in found:
            print(f"{name}: {rule} {message}")
    print(f"docstrings: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
