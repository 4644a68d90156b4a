"""Judges: does a comment raise the same issue as a reference? One protocol, one file a judge."""
