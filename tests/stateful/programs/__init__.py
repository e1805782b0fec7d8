"""Random programs on hierarchies: made from a seed, run against a model of NumPy arrays, reduced where they fail.

``model.py`` says what has to come out, ``making.py`` makes programs, ``places.py`` the stores and the ways to open
them, ``running.py`` runs a program, ``reducing.py`` makes a failing one small, ``peer_reading.py`` is run by another
interpreter, where zarr-python and tensorstore read what was stored.
"""
