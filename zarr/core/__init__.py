"""The import paths of zarr-python's ``zarr.core`` that other libraries use.

May import: everything; nothing below imports from here.
Most modules only re-export names of other rooms; functions that this library does not use itself stand here.
Read first: ``indexing.py`` (tifffile, cubed, xarray), then ``array.py`` and ``group.py`` (pydantic-zarr).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from zarr._lazy import lazy_names

if TYPE_CHECKING:
    from zarr.arrays.array import Array
    from zarr.buffer.core import Buffer, NDBuffer
    from zarr.codecs.base.pipeline import BatchedCodecPipeline
    from zarr.core import array, buffer, chunk_grids, codec_pipeline, common, config, group, indexing, metadata, sync

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "zarr.arrays.array": "Array",
        "zarr.buffer.core": "Buffer NDBuffer",
        "zarr.codecs.base.pipeline": "BatchedCodecPipeline",
    },
)

__all__ = [
    "Array", "BatchedCodecPipeline", "Buffer", "NDBuffer", "array", "buffer", "chunk_grids", "codec_pipeline", "common",
    "config", "group", "indexing", "metadata", "sync",
]

# In zarr-python each module also has the names that it imports from its siblings, and programs write ``from
# zarr.core.array import ArraySpec`` (tifffile, virtualizarr, icechunk). Such a name is looked up in its own module.
HOMES: Final = {
    "zarr.abc.codec": (
        "ArrayArrayCodec ArrayBytesCodec ArrayBytesCodecPartialDecodeMixin ArrayBytesCodecPartialEncodeMixin "
        "BytesBytesCodec CodecPipeline GetResult Metadata"
    ),
    "zarr.abc.numcodec": "Numcodec",
    "zarr.abc.store": (
        "ByteGetter ByteRequest ByteSetter RangeByteRequest Store SuffixByteRequest SupportsDeleteSync "
        "SupportsGetSync SupportsSetSync set_or_delete"
    ),
    "zarr.codecs": "BytesCodec VLenBytesCodec VLenUTF8Codec ZstdCodec",
    "zarr.codecs._v2": "V2Codec",
    "zarr.core._info": "ArrayInfo GroupInfo",
    "zarr.core.array": (
        "Array AsyncArray CompressorLike CompressorsLike DEFAULT_FILL_VALUE FiltersLike SerializerLike "
        "ShardsLike create_array"
    ),
    "zarr.core.array_spec": "ArrayConfig ArraySpec parse_array_config",
    "zarr.core.attributes": "Attributes",
    "zarr.core.buffer": "Buffer BufferPrototype NDArrayLike NDBuffer default_buffer_prototype",
    "zarr.core.chunk_grids": (
        "ChunkGrid FixedDimension SHARDED_INNER_CHUNK_MAX_BYTES VaryingDimension guess_chunks "
        "normalize_chunks_nd resolve_outer_and_inner_chunks"
    ),
    "zarr.core.chunk_key_encodings": (
        "ChunkKeyEncoding ChunkKeyEncodingLike DefaultChunkKeyEncoding V2ChunkKeyEncoding "
        "parse_chunk_key_encoding parse_separator"
    ),
    "zarr.core.chunk_utils": "ChunkTransform chunk_is_empty evolve_codecs fill_value_or_default",
    "zarr.core.common": (
        "ANY_ACCESS_MODE ChunksLike JSON NamedConfig NamedRequiredConfig ZARRAY_JSON ZARR_JSON ZATTRS_JSON "
        "ZGROUP_JSON ZMETADATA_V2_JSON ceildiv_int compress_rle concurrent_foreach concurrent_iter concurrent_map "
        "expand_rle parse_chunk_edge parse_named_configuration parse_shapelike product"
    ),
    "zarr.core.config": "config parse_indexing_order",
    "zarr.core.dtype": (
        "DTypeSpec_V2 HasEndianness HasItemSize HasObjectCodec Struct Structured VariableLengthBytes "
        "VariableLengthUTF8 ZDType ZDTypeLike get_data_type_from_json parse_data_type parse_dtype"
    ),
    "zarr.core.dtype.common": "OBJECT_CODEC_IDS check_dtype_spec_v3",
    "zarr.core.indexing": (
        "AsyncOIndex AsyncVIndex BasicIndexer BlockIndex BlockIndexer ChunkProjection CoordinateIndexer "
        "Indexer MaskIndexer OIndex OrthogonalIndexer SliceDimIndexer VIndex colexicographic_order_coords "
        "get_indexer is_pure_fancy_indexing is_pure_orthogonal_indexing lexicographic_order_coords "
        "morton_order_coords pop_fields"
    ),
    "zarr.core.metadata": "ArrayMetadataDict ArrayV2Metadata ArrayV3Metadata",
    "zarr.core.metadata.common": "parse_attributes",
    "zarr.core.metadata.v2": "get_object_codec_id",
    "zarr.core.metadata.v3": (
        "AllowedExtraField ArrayMetadataJSON_V3 RectilinearChunkGridMetadata RegularChunkGridMetadata "
        "create_chunk_grid_metadata parse_extra_fields parse_node_type_array"
    ),
    "zarr.core.sync": "SyncMixin sync",
    "zarr.errors": (
        "ArrayIndexError ArrayNotFoundError BoundsCheckError ChunkNotFoundError ContainsArrayAndGroupError "
        "ContainsArrayError ContainsGroupError GroupNotFoundError MetadataValidationError NegativeStepError "
        "NodeTypeValidationError VindexInvalidSelectionError ZarrDeprecationWarning ZarrUserWarning "
        "err_too_many_indices"
    ),
    "zarr.registry": "get_codec_class get_ndbuffer_class get_numcodec get_pipeline_class register_pipeline",
    "zarr.storage._common": "make_store_path",
    "zarr.storage": "StorePath LocalStore ManagedMemoryStore MemoryStore",
    "zarr.storage._utils": "normalize_path parse_store_url",
}


def borrowed_names(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module that also has the names of its siblings.

    Parameters
    ----------
    module
        The name of the module, usually ``__name__``.

    Examples
    --------
    >>> import zarr.core.array, zarr.core.array_spec
    >>> zarr.core.array.ArraySpec is zarr.core.array_spec.ArraySpec
    True
    """
    others = {home: names for home, names in HOMES.items() if home != module}
    return lazy_names(module, {}, others)[0]
