"""Loaders: a name, a path or text in, a Chain out."""
