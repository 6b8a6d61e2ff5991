"""Loaders: text and tables in, a Chain out."""
