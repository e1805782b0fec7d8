"""What people see of a group: ``info``, ``tree``, and the HTML of a notebook.

May import: floors 1 to 4, ``zarr.groups``.
Read first: ``tree.py``.
"""
