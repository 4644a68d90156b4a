"""A judge, a router and a format of one's own. metareview finds them by the entry points in pyproject.toml."""
