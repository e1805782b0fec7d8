"""Why calls differ from zarr-python 3.4.2 on purpose: one reason a rule, not a case."""

# ruff: noqa: E501  (a row of the table is one line)
from __future__ import annotations

from .call_comparison import Reason

GROUP = r"(; |\()a?g\.|Group\.|create_hierarchy| in g\b"
LIKES = r"(_like|open_like)\("
WRITES = r"; (z(\.\w+)?\[.*\] = |z\.set_|run\(z\.async_array\.setitem)|\.append\("
INDEXES = r"; (run\()?z(\[|\.(get|set)_|\.(oindex|vindex|blocks|async_array)\b)"
DATA = r"data=|zarr\.(array|save\w*)\(|setitem|g\['[ax]'\] = "

REASONS = [
    # ------------------------------------------------------------------------------------ done here, not there
    Reason("groups are copied, moved and loaded", r"\.(move|load|copy|copy_all|copy_store)\(", "NotImplementedError"),
    Reason(
        "what can become an array of NumPy is data, whatever it is",
        DATA,
        "has no attribute '(shape|dtype|ndim|__getitem__)'|NDArrayLike array",
    ),
    Reason(
        "what can become an array of NumPy is a model, and lends what it has",
        LIKES,
        "missing 1 required|no attribute|has no len|value: |inhomogeneous|TypeError: (Chunk|iteration)|IndexError",
    ),
    Reason("text has a codec of its own, whatever codec a model has", LIKES, "For string dtype"),
    Reason("an array has a length, a truth value, an iterator, a number, as in NumPy", r"z\.__", "AttributeError"),
    Reason("an array in a store is a value that can be written", WRITES, "SyncError"),
    Reason(
        "codecs of format 2 are understood in format 3, by its rules",
        r"'id'|codecs=\{",
        "KeyError: 'name'|Expected dict",
    ),
    Reason("text and bytes without a length are of any length", r"'U'|'S'|bytes|'V'", "length must be >= 1"),
    Reason("raw bytes have a name in format 3", r"'r16'", "TypeError"),
    Reason("a path that ends in .zip is a zip archive", r"x\.zip"),
    Reason("an index without dimensions is a number, as in NumPy", r"np\.array\(1\)", "1-dimensional only", "value"),
    Reason("a codec of objects counts, or a warning says why not", "object_codec=", "warns", "warns"),
    Reason("a codec that does not fit the data is refused", r"numcodecs\.Delta", "TypeError", "ChunkEncodeError: codec"),
    Reason("what was saved is what is opened", r"zarr\.save\(.*zarr_format=2\); zarr\.open\(", "value", r"value: \.attrs"),
    Reason("a store of chunks holds chunks, and must be a store", "chunk_store=1", "", "TypeError: Unsupported type"),
    Reason("None and True choose chunks, in all functions", "chunk", "not a valid chunk input|chunks has"),
    Reason(
        "names of members may be text, bytes and paths, and None is the group itself",
        GROUP + r"|path=|name=",
        r"TypeError: (sequence item|expected str|argument|unsupported|Expected|.*'NoneType')|AttributeError: '\w+' object",
    ),
    Reason("a store that needs no options does not look at them", "storage_options=", "storage_options"),
    Reason("mode=None is the default of the function", "mode=None", "NotFoundError"),
    Reason(
        "parameters of an array, given to zarr.open, where a group is: both refuse, at other places",
        r"zarr\.open\(.*shape=",
        "ArrayNotFoundError|Contains",
        "TypeError: open_group|Contains",
    ),
    Reason(
        "a name alone is taken for a chunk key encoding", "chunk_key_encoding='", "Expected dict", "ValueError|value"
    ),
    # ------------------------------------------------------------------------------------- selections and values
    Reason(
        "values are brought to a selection by NumPy's rules: what fits is written, what does not is refused",
        WRITES,
        "",
        r"value: |ShapeMismatchError|Attempting to set a selection of|shape of data to append",
    ),
    Reason(
        "an empty list selects nothing, as in NumPy", r"\[\]|np\.array\(\[\]", "IndexError|VindexInvalidSelectionError"
    ),
    Reason("fields may be named in every way of indexing", r"fields\(.*('[ab]'|fields=)"),
    Reason("blocks of an array without elements are none", "hollow", "BoundsCheckError", "value|IndexError"),
    Reason(
        "of several mistakes in one selection or value another is named first",
        INDEXES,
        "^(IndexError|BoundsCheckError|OverflowError|VindexInvalidSelectionError|ValueError|TypeError)",
        "^(IndexError|BoundsCheckError|VindexInvalidSelectionError|FieldsError|NegativeStepError|ValueError|TypeError)",
    ),
    # ----------------------------------------------------------------------------------------------- guarantees
    Reason(
        "a copy of the documents of format 2 is shown without marks of copies below it",
        "",
        r"zmetadata.*consolidated_metadata",
        r"value: ",
    ),
    Reason(
        "codecs may be given as their configurations, alone or in lists",
        "(filters|compress|serializer)",
        "(Type|Value)Error: (For|Expected|Invalid|'.*not iterable)",
        "value",
    ),
    Reason("None in a shape of chunks is the whole length", "None, 2", "Chunk specification must be"),
    Reason(
        "data types have JSON forms, too",
        "dtype={|dtype=None|'int128'",
        "entry not a 2- or 3- tuple|but dtype was not",
        "value",
    ),
    Reason("a structure may have fields that are arrays, in format 2", r"\(2,\)\)\]", "subarray", "value"),
    Reason("chunks of dask are a hint", "DuckArray", "rectilinear|value: .chunks", "value"),
    Reason("a masked array is written with its values", r"np\.ma", "cannot reshape", "value"),
    Reason("a mask that is not kept is told", r"np\.ma", "warns of nothing", "warns: .*masked elements"),
    Reason("an asynchronous array is data, too", "AsyncArrayOf", "", "value|Error"),
    Reason("numbers are times", "'[mM]8", "Cannot convert object", "value"),
    Reason("shape and sizes may be given as separate numbers", r"resize\(7, 4\)", "takes 2 positional"),
    Reason(
        "a zarr array is data of all functions with all their parameters",
        r"zarr\.array\(",
        "unexpected keyword argument",
    ),
    Reason(
        "a format that says nothing is the default",
        r"zarr_format=(\[\]|0|None)|dimension_separator=''",
        "ValueError|TypeError",
        "value",
    ),
    Reason(
        "of several wrong parameters another is named first",
        r"sharded\(\).*zarr_format=2|save|use_consolidated=5",
        "(Type|Value)Error",
        "Error: ",
    ),
    Reason("a group shows what is stored, whoever changed its attributes", "update_attributes_async", "value", "value"),
    Reason("a tree may be expanded", "expand=", "NotImplementedError"),
    Reason("mode w- makes a group where no shape is given, as other modes do", "mode='w-'", "missing 1 required"),
    Reason("save_array takes the chunks", "save_array.*chunks=", "got multiple values"),
    Reason("a configuration that says nothing is that of the array", "with_config", "is not a mapping"),
    Reason("codecs may be named alone", "codecs='", "Expected dict"),
    Reason("require_array makes floats where no data type is given", "require_array", "dtype was not specified"),
    Reason("a range is a list of coordinates", r"range\(", "IndexError", "value"),
    Reason("a datetime has a unit", "'M8'", "generic units", "value"),
    Reason("whoever is no store is refused by its type", r"Group\(5\)", "AttributeError", "TypeError"),
    Reason(
        "what is no metadata of a node is refused by its type", "nodes=|create_hierarchy", "AttributeError", "TypeError"
    ),
    Reason(
        "no array is made over a group of another format", r"zarr\.open\(.*shape=", "value", "TypeError: open_group"
    ),
    Reason("the current folder is a store, too", r"\(''", "OSError"),
    Reason("an axis to append to is one that there is", r"append", "value", "ValueError|WrongTypeError"),
    Reason("names of metadata documents are no names of nodes", r"zarr\.json|\.zarray", "", "The node name"),
    Reason("a group does not delete itself", "delitem", "value", "cannot delete itself"),
    Reason("a node does not lie below an array", "create_hierarchy", "value", "ContainsArrayError"),
    Reason("a node below a damaged document is not made", "'broken'", "value", "MetadataValidationError|JSONDecodeError"),
    Reason("a damaged document is an error of the library", "'broken'", "JSONDecodeError", "MetadataValidationError"),
    Reason("no length is above 2**63 - 1", r"2\*\*70", "value", "too large"),
    Reason(
        "a fill value is one of the data type", "fill_value=", "value", "WrongTypeError|ValueError|value: .*fill_value"
    ),
    Reason(
        "what is no array of items has no name in the formats", r"'i4', \(2,\)", "value|TypeError", "No Zarr data type"
    ),
    Reason("the axes of a data type of small arrays are axes of the array, as in 2.18", r"'i4', \(2,\)"),
    Reason("mode x is mode w-, as in 2.18", "mode='x'", "Invalid mode: x", "with mode 'w-'"),
    Reason("the compressor of format 3 is the codec of numcodecs, as in 2.18", r"\.compressor\b", "format 3", "value"),
    Reason("settings have a type and a range", r"config\.set", "", "BadSettingError"),
    Reason(
        "attributes are a mapping with names that are text",
        r"attributes|attrs",
        "value|Contains",
        "TypeError|WrongTypeError",
    ),
    Reason("attributes are shown as they are stored: names are text", r"attributes|attrs", "value: .*(int|None)"),
    Reason("a format is 2 or 3", "zarr_format=", "value", "zarr_format"),
    Reason(
        "a codec is named by its configuration",
        "filters=|compress|serializer=",
        "TypeError|value|KeyError: 'name'|codec not available: 'None'",
        "UnnamedCodecError|UnknownCodecError",
    ),
    Reason("NumPy's own warnings depend on its version", "", "warns: DeprecationWarning"),
]
