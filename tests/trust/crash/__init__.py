"""A writer that dies, or whose file operations fail, at every place in turn."""
