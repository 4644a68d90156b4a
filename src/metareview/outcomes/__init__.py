"""What became of comments: lines changed, suggestions, threads."""
