"""Data types that numpy has, too: one module a family."""
