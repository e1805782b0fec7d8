ZSTD_NAMES: tuple[str, ...]
LZ4_NAMES: tuple[str, ...]
ZLIB_NAMES: tuple[str, ...]
BLOSC_NAMES: tuple[str, ...]

def crc32c_portable(data: bytes, start: int = 0) -> int: ...
