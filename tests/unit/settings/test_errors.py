from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from zarr import errors


@pytest.mark.parametrize(
    ("cls", "bases"),
    [
        (errors.BaseZarrError, (ValueError,)),
        (errors.NodeNotFoundError, (ValueError, FileNotFoundError)),
        (errors.ArrayNotFoundError, (errors.NodeNotFoundError,)),
        (errors.GroupNotFoundError, (errors.NodeNotFoundError,)),
        (errors.ContainsArrayError, (errors.BaseZarrError,)),
        (errors.ContainsGroupError, (errors.BaseZarrError,)),
        (errors.ContainsArrayAndGroupError, (errors.BaseZarrError,)),
        (errors.MetadataValidationError, (errors.BaseZarrError,)),
        (errors.NodeTypeValidationError, (errors.MetadataValidationError,)),
        (errors.UnknownCodecError, (errors.BaseZarrError,)),
        (errors.PickleCodecDisabledError, (errors.BaseZarrError,)),
        (errors.ChunkNotFoundError, (errors.BaseZarrError,)),
        (errors.ChunkDecodeError, (errors.ChunkError, ValueError, RuntimeError)),
        (errors.ReadOnlyError, (ValueError, PermissionError)),
        (errors.DataTypeValidationError, (ValueError,)),
        (errors.ArrayIndexError, (IndexError,)),
        (errors.BoundsCheckError, (IndexError,)),
        (errors.NegativeStepError, (IndexError,)),
        (errors.VindexInvalidSelectionError, (IndexError,)),
        (errors.UnstableSpecificationWarning, (errors.ZarrFutureWarning, FutureWarning)),
        (errors.ZarrDeprecationWarning, (DeprecationWarning,)),
        (errors.ZarrRuntimeWarning, (RuntimeWarning,)),
        (errors.ZarrUserWarning, (UserWarning,)),
    ],
)
def test_bases(cls: type, bases: tuple[type, ...]) -> None:
    assert all(issubclass(cls, base) for base in bases)


def test_one_argument_is_the_message() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)("only this")
        assert str(error) == "only this"
        assert error.args == ("only this",)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (errors.ArrayNotFoundError("s", "p"), "No array found in store 's' at path 'p'"),
        (errors.GroupNotFoundError("s", "p"), "No group found in store 's' at path 'p'"),
        (errors.ContainsArrayError("s", "p"), "An array exists in store 's' at path 'p'."),
        (errors.ContainsGroupError("s", "p"), "A group exists in store 's' at path 'p'."),
        (errors.MetadataValidationError("a", "b", "c"), "Invalid value for 'a'. Expected 'b'. Got 'c'."),
        (errors.NodeTypeValidationError("a", "b", "c"), "Invalid value for 'a'. Expected 'b'. Got 'c'."),
    ],
)
def test_several_arguments_fill_the_sentence(error: Exception, message: str) -> None:
    assert str(error) == message
    assert error.args == (message,)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == message


def test_chunk_errors_carry_where_it_happened() -> None:
    error = errors.ChunkDecodeError("bad", array="a", key="a/c/0", codec="zstd")
    again = pickle.loads(pickle.dumps(error))
    assert (again.array, again.key, again.codec, str(again)) == ("a", "a/c/0", "zstd", "bad")


def test_a_missing_node_can_be_caught_as_a_missing_file() -> None:
    with pytest.raises(FileNotFoundError, match="No array found"):
        raise errors.ArrayNotFoundError("store", "path")


TRACED = """
import pickle
from tblib import pickling_support
import zarr.errors
pickling_support.install()
count = 0
for error in list(vars(zarr.errors).values()):
    if isinstance(error, type) and issubclass(error, zarr.errors.BaseZarrError):
        made = error("a store", "a/path")
        again = pickle.loads(pickle.dumps(made))
        assert type(again) is error and str(again) == str(made), error
        count += 1
print(count)
"""


def test_errors_are_pickled_with_their_tracebacks() -> None:
    """Workers of distributed send them so."""
    pytest.importorskip("tblib", reason="tblib, which distributed brings, is not installed")
    done = subprocess.run([sys.executable, "-c", TRACED], check=True, capture_output=True, text=True)
    assert int(done.stdout) > 10
