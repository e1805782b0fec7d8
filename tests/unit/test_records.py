"""A record is what the decorator of the standard library would have made of the same class."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest

from zarr._records import field, record, set_values


class Pair:
    """Points and boxes, by records and by dataclasses: the bodies are the same."""

    def __init__(self, make: Callable[..., Any], fields: Callable[..., Any]) -> None:
        @make(frozen=True)
        class Point:
            dimensions: ClassVar[int] = 2
            x: int
            y: int = 0

            def __init__(self, x: int, y: int = 0) -> None:
                vars(self).update(x=x, y=y)

        @make(frozen=True, kw_only=True)
        class Named(Point):
            label: str = "none"
            seen: list[int] = fields(default_factory=list, compare=False, repr=False)
            version: int = fields(default=3, init=False)

            def __init__(self, *, x: int, y: int = 0, label: str = "none", seen: list[int] | None = None) -> None:
                super().__init__(x, y)
                vars(self).update(label=label, seen=seen or [], version=3)

        @make(frozen=True, eq=False)
        class Alone(Point):
            pass

        @make(frozen=True)
        class Own(Point):
            def __eq__(self, other: object) -> bool:
                return isinstance(other, Own)

            def __hash__(self) -> int:
                return 7

            def __repr__(self) -> str:
                return "mine"

        class Undecorated(Point):
            z: int

        @dataclasses.dataclass(frozen=True)
        class Derived(Point):
            z: int = 5

        self.classes = (Point, Named, Alone, Own, Undecorated, Derived)

    def objects(self) -> list[Any]:
        point, named, alone, own, undecorated, derived = self.classes
        return [
            point(1), point(1, 0), point(x=1, y=2), named(x=1), named(x=1, label="a", seen=[1]), named(x=1, label="a"),
            alone(1), alone(1), own(1), own(2), undecorated(1), undecorated(1, 2), derived(1), derived(1, 2, 3),
        ]  # fmt: skip


RECORDS, STANDARD = Pair(record, field), Pair(dataclasses.dataclass, dataclasses.field)
BOTH = list(zip(RECORDS.objects(), STANDARD.objects(), strict=True))


def test_what_objects_look_like() -> None:
    assert [repr(ours) for ours, _ in BOTH] == [repr(theirs) for _, theirs in BOTH]
    assert [vars(ours) for ours, _ in BOTH] == [vars(theirs) for _, theirs in BOTH]


def test_which_objects_are_equal() -> None:
    for mine, standard in BOTH:
        assert [mine == other for other, _ in BOTH] == [standard == other for _, other in BOTH]
        assert [hash(mine) == hash(other) for other, _ in BOTH] == [hash(standard) == hash(other) for _, other in BOTH]


def attempt(action: Callable[[], Any]) -> Any:
    try:
        return vars(action())
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


def changed(value: Any, name: str) -> Any:
    setattr(value, name, 9)
    return value


def without(value: Any, name: str) -> Any:
    delattr(value, name)
    return value


@pytest.mark.parametrize("name", ["x", "z", "label", "dimensions", "other"])
def test_which_attributes_can_be_changed(name: str) -> None:
    for mine, standard in BOTH:
        ours, theirs = copy.copy(mine), copy.copy(standard)
        assert attempt(partial(changed, ours, name)) == attempt(partial(changed, theirs, name))
        ours, theirs = copy.copy(mine), copy.copy(standard)
        assert attempt(partial(without, ours, name)) == attempt(partial(without, theirs, name))


@pytest.mark.parametrize("changes", [{}, {"x": 8}, {"label": "b"}, {"version": 4}, {"nothing": 1}])
def test_replacing(changes: dict[str, Any]) -> None:
    ways = [dataclasses.replace, *([copy.replace] if sys.version_info >= (3, 13) else [])]
    for mine, standard in BOTH:
        ours = [attempt(partial(replace, mine, **changes)) for replace in ways]
        assert ours == [attempt(partial(replace, standard, **changes)) for replace in ways]


def said_of(cls: Any) -> list[Any]:
    names = ("name", "type", "default", "init", "repr", "hash", "compare", "kw_only")
    return [[getattr(field, name) for name in names] for field in dataclasses.fields(cls)]


def test_what_is_said_of_classes() -> None:
    for ours, theirs in zip(RECORDS.classes, STANDARD.classes, strict=True):
        assert dataclasses.is_dataclass(ours)
        assert said_of(ours) == said_of(theirs)
        assert ours.__match_args__ == theirs.__match_args__
        assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
        for name in ("eq", "frozen", *(["kw_only"] if sys.version_info >= (3, 12) else [])):
            assert getattr(ours.__dataclass_params__, name) == getattr(theirs.__dataclass_params__, name)


def test_threads_may_ask_for_the_fields_at_the_same_time() -> None:
    @record(frozen=True)
    class Point:
        x: int

    slow = vars(Point)["__dataclass_fields__"]  # found by one thread before another one has made them
    assert [each.name for each in dataclasses.fields(Point)] == ["x"]
    assert list(slow.__get__(None, Point)) == ["x"]


def test_as_a_dict() -> None:
    named: Any = RECORDS.classes[1]
    assert dataclasses.asdict(named(x=1)) == {"x": 1, "y": 0, "label": "none", "seen": [], "version": 3}


@record(frozen=True)
class Kept:
    value: int

    def __init__(self, value: int) -> None:
        set_values(self, value=value)


def test_copies_and_pickles() -> None:
    kept = Kept(3)
    assert pickle.loads(pickle.dumps(kept)) == kept == copy.deepcopy(kept)
    match kept:
        case Kept(value):
            assert value == 3
