"""What a store, a codec, a metadata document must offer.

May import ``zarr.buffer``, ``zarr.errors`` and ``zarr.types`` only; implementations are reached through the registry.
Read ``store.py`` first.
"""
