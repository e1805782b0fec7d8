"""What a case is: one damaged thing, what is done with it, and whether the outcome is one that is promised."""

from __future__ import annotations

import hashlib
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarr import errors

SLOW_SECONDS = float(os.environ.get("ZARR_FUZZ_SLOW", "2"))
"""What counts as a hang; a build with all checks fills a large array some forty times slower, so it is given more."""
DOCUMENTED = tuple(
    cls
    for name in errors.__all__
    if isinstance(cls := getattr(errors, name), type) and issubclass(cls, Exception) and not issubclass(cls, Warning)
)


def text_of(error: BaseException) -> str:
    """What a user sees of an error: the message and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def digest(value: Any) -> str:
    """A few characters that stand for a result: equal for equal bytes."""
    array = np.asarray(value)
    raw = repr(array.tolist()).encode() if array.dtype.hasobject or array.dtype.kind == "T" else array.tobytes()
    return hashlib.blake2b(raw, digest_size=6).hexdigest()


@dataclass
class Report:
    """The outcome of a run."""

    count: int = 0
    refused: int = 0
    slowest: float = 0.0
    breaches: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    classes: dict[str, int] = field(default_factory=dict)

    def breach(self, label: str, what: str) -> None:
        """Keep what is not as promised."""
        self.breaches.append(f"{label}: {what}")

    def attempt(self, label: str, action: Callable[[], Any], must_say: tuple[str, ...] = ()) -> Any:
        """Do something with a damaged thing; whatever fails must fail with a documented error that says where.

        Returns
        -------
        The result; None where it was refused.
        """
        self.count += 1
        start = time.perf_counter()
        result = None
        try:
            result = action()
            self.outcomes.append(f"{label} {digest(result)}" if result is not None else label)
        except DOCUMENTED as error:
            self.refused += 1
            self._refusal(label, error, must_say)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rpartition('/zarr')[2]}:{last.lineno}"
            self.breach(label, f"{type(error).__name__} from {place}: {text_of(error)[:300]}")
        took = time.perf_counter() - start
        self.slowest = max(self.slowest, took)
        if took > SLOW_SECONDS:
            self.breach(label, f"took {took:.1f} s")
        return result

    def _refusal(self, label: str, error: Exception, must_say: tuple[str, ...]) -> None:
        name = type(error).__name__
        self.classes[name] = self.classes.get(name, 0) + 1
        self.outcomes.append(f"{label} {name}")
        text = text_of(error)
        for part in must_say:
            if part not in text:
                self.breach(label, f"{name} does not say {part!r}: {text[:300]}")
                return

    def summary(self) -> str:
        """The numbers in one line."""
        kinds = ", ".join(f"{name} {n}" for name, n in sorted(self.classes.items(), key=lambda item: -item[1]))
        return (
            f"{self.count} cases, {self.refused} refused, slowest {self.slowest:.2f} s, "
            f"{len(self.breaches)} breaches ({kinds})"
        )
