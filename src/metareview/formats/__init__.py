"""Readers and writers of input files: one module per format. Nothing else in the package opens an input file."""
