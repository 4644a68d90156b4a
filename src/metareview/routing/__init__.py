"""Reviewer routing: replay a history, and score who should have reviewed."""
