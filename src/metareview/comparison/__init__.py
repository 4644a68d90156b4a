"""Runs side by side: paired comparisons, leaderboards, and how far figures depend on the settings."""
