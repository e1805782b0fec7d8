"""The import paths of zarr-python 2's ``zarr._storage``; re-exports."""
