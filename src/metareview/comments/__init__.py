"""Review comments: what they are, which may match, how they are aligned and measured."""
