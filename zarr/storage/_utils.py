"""The import path that other libraries use for keys, byte ranges and URLs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from zarr.abc.store import ByteRequest
from zarr.buffer.core import Buffer
from zarr.storage.keys import join, normalize_path
from zarr.storage.ranges import bounds_of
from zarr.storage.url import ParsedStoreUrl, parse_store_url

T = TypeVar("T")


def _join_paths(paths: Iterable[str]) -> str:
    """Join paths by slashes, leaving out empty ones."""
    return join(*paths)


def _relativize_path(*, path: str, prefix: str) -> str:
    """Return the part of a path below a prefix."""
    if not prefix:
        return path
    if not path.startswith(f"{prefix}/"):
        raise ValueError(f"The first component of {path} does not start with {prefix}.")
    return path[len(prefix) + 1 :]


def _dereference_path(root: str, path: str) -> str:
    """Return a path below a root, without a slash at its end."""
    root = root.rstrip("/")
    return (f"{root}/{path}" if root else path).rstrip("/")


def _normalize_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Normalize paths that must stay different from each other."""
    seen: dict[str, str] = {}
    for path in paths:
        normal = normalize_path(path)
        if normal in seen:
            raise ValueError(
                f"After normalization, the value '{path}' collides with '{seen[normal]}'. "
                f"Both '{path}' and '{seen[normal]}' normalize to the same value: '{normal}'. "
                f"You should use either '{path}' or '{seen[normal]}', but not both."
            )
        seen[normal] = path
    return tuple(seen)


def _normalize_path_keys(data: Mapping[str, T]) -> dict[str, T]:
    """Return the mapping with normalized keys, which must stay different from each other."""
    return dict(zip(_normalize_paths(data), data.values(), strict=True))


def _normalize_byte_range_index(data: Buffer, byte_range: ByteRequest | None) -> tuple[int, int]:
    """Return where a byte request begins and ends in a value."""
    return (0, len(data)) if byte_range is None else bounds_of(byte_range, len(data))


__all__ = ["ParsedStoreUrl", "normalize_path", "parse_store_url"]
