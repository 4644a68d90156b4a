"""Parts of SARIF 2.1.0: rules and their messages, places, and metareview's own property bag."""
