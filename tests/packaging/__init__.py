"""Wheels: what is in them, and environments that they are installed in."""
