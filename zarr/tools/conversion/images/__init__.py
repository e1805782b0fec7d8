"""Images: TIFF and OME-TIFF by tifffile, GeoTIFF by rasterio.

May import: ``conversion/contents``, ``tools/copies``, ``tools/plans`` and everything below; the libraries only inside
functions, because they are extras.
Read first: ``tiff.py`` with ``descriptions.py`` (metadata besides the elements), then ``tiff_writing.py``.
"""
