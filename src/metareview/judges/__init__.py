"""Judges: does a comment raise the same issue as a reference? One protocol, one file per judge in builtin/."""
