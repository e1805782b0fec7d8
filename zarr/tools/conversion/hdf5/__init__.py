"""HDF5 and NetCDF-4, by h5py and h5netcdf.

Read first: ``types.py`` (data types and attributes), then ``reading.py``.
"""
