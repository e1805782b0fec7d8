"""Objects of S3, Google and Azure with their versions, over file systems of fsspec.

A read returns the bytes and the version: the entity tag (S3, Azure) or the generation (Google) of the object. A write
replaces the object only if it still has a version; it raises a FileExistsError if another program was first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from zarr.errors import StoreUnavailableError, ValueReplacedError
from zarr.storage.remote.clients import Span, check_answer, get_from_others, header_of

Found = tuple[bytes, str | None]
"""The bytes of an object, and its version; None where nothing identifies the bytes."""


_SIZES: Final = 5
"""So many times the size of a blob is asked for again, if the blob is replaced before its last bytes are read."""


# S3, by s3fs


async def get_from_s3(fs: Any, path: str, span: Span) -> Found:
    """Return the bytes of an object and its entity tag: in one request, unless s3fs requests the parts of a large one.

    Raises
    ------
    FileNotFoundError
        If there is no such object.
    StoreUnavailableError
        If other bytes arrive.
    """
    bucket, key, version = fs.split_path(path)
    if not key:
        raise FileNotFoundError(path)
    options = {"VersionId": version} if version else {}
    if span != (None, None):
        options["Range"] = header_of(span)
    answer = await fs._call_s3("get_object", Bucket=bucket, Key=key, **options, **fs.req_kw)
    body = answer["Body"]
    try:
        if span == (None, None) and answer["ContentLength"] > fs.default_block_size:
            return bytes(await fs._cat_file(path)), _tag(answer)
        data: bytes = await body.read()
    finally:
        body.close()
    check_answer(path, span, len(data), answer.get("ContentRange"))
    return data, _tag(answer)


def _tag(answer: Mapping[str, Any]) -> str | None:
    """Return the entity tag of an answer of S3, if it identifies the bytes."""
    tag = answer.get("ETag")
    return None if not tag or tag.startswith("W/") else tag


async def put_to_s3(fs: Any, path: str, data: bytes, version: str | None) -> None:
    """Store an object if it has the version (None: if there is none)."""
    await fs.set_session()
    client = await fs.get_s3(fs.split_path(path)[0])
    members = client.meta.service_model.operation_model("PutObject").input_shape.members
    if "IfMatch" not in members or "IfNoneMatch" not in members:  # s3fs would drop the condition
        raise NotImplementedError("this release of botocore has no conditional requests")
    await fs._pipe_file(path, data, **({"mode": "create"} if version is None else {"IfMatch": version}))


# Google, by gcsfs


async def get_from_google(fs: Any, path: str, span: Span) -> Found:
    """Return the bytes of an object and its generation; those of a zonal bucket have none here.

    Raises
    ------
    FileNotFoundError
        If there is no such object.
    StoreUnavailableError
        If other bytes arrive.
    """
    bucket, key, generation = fs.split_path(path)
    if not key:
        raise FileNotFoundError(path)
    if generation or await _is_zonal(fs, bucket):
        return await get_from_others(fs, path, span), None
    head = {} if span == (None, None) else {"Range": header_of(span)}
    try:
        headers, data = await fs._call("GET", fs.url(path), headers=head)
    except Exception as error:
        if head and str(getattr(error, "code", "")) == "416":  # the range begins after the end
            return b"", None
        raise
    check_answer(path, span, len(data), headers.get("Content-Range"))
    return data, headers.get("x-goog-generation")


async def _is_zonal(fs: Any, bucket: str) -> bool:
    """Return True for a bucket that gcsfs does not reach by HTTP."""
    known = getattr(fs, "_is_zonal_bucket", None)
    return known is not None and bool(await known(bucket))


class _OnGeneration:
    """A file system of Google whose uploads replace one generation of an object; gcsfs has no option for that."""

    def __init__(self, fs: Any, generation: str) -> None:
        self._fs, self._generation = fs, generation

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    async def _call(self, method: str, path: str, *args: Any, **options: Any) -> Any:
        if "uploadType" in options:  # of a large object, the beginning: its parts follow to an address of their own
            options["ifGenerationMatch"] = self._generation
        return await self._fs._call(method, path, *args, **options)


async def put_to_google(fs: Any, path: str, data: bytes, version: str | None) -> None:
    """Store an object if it has the generation (None: if there is none)."""
    from gcsfs.core import GCSFileSystem

    if await _is_zonal(fs, fs.split_path(path)[0]):
        raise NotImplementedError("gcsfs has no conditional requests for zonal buckets")
    await GCSFileSystem._pipe_file(_OnGeneration(fs, version or "0"), path, data)


# Azure, by adlfs


async def get_from_azure(fs: Any, path: str, span: Span) -> Found:
    """Return the bytes of a blob and its entity tag; the last bytes of a blob take one request more for its size.

    Raises
    ------
    FileNotFoundError
        If there is no such blob.
    StoreUnavailableError
        If other bytes arrive.
    ValueReplacedError
        If the blob was replaced between the two requests, again and again.
    """
    from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError

    for _ in range(_SIZES):
        try:
            return await _read_blob(fs, path, span)
        except ResourceNotFoundError as error:
            raise FileNotFoundError(path) from error
        except ResourceModifiedError:
            continue
        except HttpResponseError as error:
            if error.status_code == 416:  # the range begins after the end
                return b"", None
            raise
    raise ValueReplacedError(f"{path} was replaced {_SIZES} times while its last bytes were read")


async def _read_blob(fs: Any, path: str, span: Span) -> Found:
    from azure.core import MatchConditions

    container, blob, version = fs.split_path(fs._strip_protocol(path))
    if not blob:
        raise FileNotFoundError(path)
    options = {"version_id": version, **getattr(fs, "_timeout_kwargs", {})}
    async with fs.service_client.get_blob_client(container=container, blob=blob) as client:
        start, end = span
        if start is not None and start < 0:
            found = await client.get_blob_properties(**options)
            start, end = max(0, found.size + start), found.size
            options.update(etag=found.etag, match_condition=MatchConditions.IfNotModified)
        length = None if end is None else end - (start or 0)
        if length == 0:
            return b"", None
        options.update(offset=start if length is None else start or 0, length=length)
        stream = await client.download_blob(max_concurrency=fs.max_concurrency, **options)
        data: bytes = await stream.readall()
    if len(data) != stream.size:
        raise StoreUnavailableError(f"{path}: asked for {header_of(span)}, got {len(data)} of {stream.size} bytes")
    return data, stream.properties.etag


async def put_to_azure(fs: Any, path: str, data: bytes, version: str | None) -> None:
    """Store a blob if it has the entity tag (None: if there is none)."""
    from azure.core import MatchConditions
    from azure.core.exceptions import ResourceModifiedError

    if version is None:
        await fs._pipe_file(path, data, mode="create")
        return
    try:
        await fs._pipe_file(path, data, etag=version, match_condition=MatchConditions.IfNotModified)
    except ResourceModifiedError as error:
        raise FileExistsError(path) from error


GETS: Final[Mapping[str, Callable[[Any, str, Span], Awaitable[Found]]]] = {
    "s3": get_from_s3,
    "gcs": get_from_google,
    "abfs": get_from_azure,
}
"""The reads, by kind of file system."""

PUTS: Final[Mapping[str, Callable[[Any, str, bytes, str | None], Awaitable[None]]]] = {
    "s3": put_to_s3,
    "gcs": put_to_google,
    "abfs": put_to_azure,
}
"""The writes, by kind of file system."""
