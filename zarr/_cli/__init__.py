"""The command line: ``zarr info``, ``cat``, ``copy`` … as ``zarr --help`` lists them; needs the extra ``cli``.

``cli.py`` has the application and the one table of commands. Each family of commands has a file: ``look`` (info, tree,
ls, stat, du), ``values`` (cat), ``create``, ``change`` (copy, move, rm, consolidate, attrs), ``migrate``. They share
``arguments`` (how the arguments of a command are parsed) and ``answers`` (output and questions).

May import: everything.
Read first: ``cli.py``.
"""
