"""Merge requests of a GitLab server, over its REST API (v4)."""
