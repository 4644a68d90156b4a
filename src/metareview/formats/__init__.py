"""Formats: one file a format. Nothing else in the package opens an input file."""
