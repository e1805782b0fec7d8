"""Tools for whole arrays and hierarchies."""
