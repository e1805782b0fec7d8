"""The forms of small documents as typed dicts; ``zarr.types`` and ``zarr.abc.codec`` offer them, too.

May import nothing of ours. They are in a file of their own because only annotations use them: opening an array does not
load it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, NotRequired, TypeAlias, TypeVar

from typing_extensions import ReadOnly, TypedDict

TName = TypeVar("TName", bound=str, covariant=True)
TConfig = TypeVar("TConfig", bound=Mapping[str, object], covariant=True)
TDTypeName = TypeVar("TDTypeName", covariant=True)
TObjectCodecID = TypeVar("TObjectCodecID", bound="str | None", covariant=True)
TName_co = TypeVar("TName_co", bound=str, covariant=True)


class NamedConfig(TypedDict, Generic[TName, TConfig]):
    """A name and, where the named thing needs one, a configuration."""

    name: ReadOnly[TName]
    configuration: NotRequired[ReadOnly[TConfig]]


class NamedRequiredConfig(TypedDict, Generic[TName, TConfig]):
    """A name and its configuration."""

    name: ReadOnly[TName]
    configuration: ReadOnly[TConfig]


class DTypeConfig_V2(TypedDict, Generic[TDTypeName, TObjectCodecID]):
    """The ``dtype`` of a format 2 array, and the id of the filter for its objects, if it has objects."""

    name: ReadOnly[TDTypeName]
    object_codec_id: ReadOnly[TObjectCodecID]


class CodecJSON_V2(TypedDict, Generic[TName_co]):
    """The JSON form of a codec in format 2; the parameters stand beside the id."""

    id: ReadOnly[TName_co]


CodecJSON_V3: TypeAlias = str | NamedConfig[str, Mapping[str, object]]
DTypeName_V2: TypeAlias = "str | Sequence[Any]"
DTypeSpec_V2: TypeAlias = DTypeConfig_V2[Any, Any]
DTypeSpec_V3: TypeAlias = str | NamedConfig[str, Mapping[str, object]]


class GetResult(TypedDict):
    """The report of a pipeline about one chunk that it was asked to read."""

    status: Literal["present", "missing"]
