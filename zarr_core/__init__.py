"""Compiled core: chunk grids, selection plans, chunk assembly, byte kernels, native decoding, bulk transfer.

May import: numpy, numcodecs (its compiled modules, for their C symbols), the standard library; nothing of ``zarr``.
Read first: ``grid.pyx``, then ``plan.pyx``; ``reference/`` says the same in plain NumPy.
"""
