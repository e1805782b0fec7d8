"""What the library asks of a store, and the steps that read and write nodes.

May import: errors, types, buffer, abc, metadata (and what lies below). Never a store, a loop, a lock or a config.
Read first: ``requests.py``.
"""
