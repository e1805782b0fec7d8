"""Lazy views: a selection of an array that is put together first and read or written later.

What lives here: selections of selections as pure functions (``composition.py``), what a view asks of the store
(``steps.py``), and the two faces of a view (``view.py``). Read ``composition.py`` first. May import what
``zarr.arrays`` may.
"""
