"""Lazy views: a selection of an array that is composed first and read or written later.

What lives here: selections of selections as pure functions (``composition.py``), and the two faces of a view with their
steps (``view.py``). Read ``composition.py`` first. May import what ``zarr.arrays`` may.
"""
