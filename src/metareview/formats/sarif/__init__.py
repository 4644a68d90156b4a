"""What reading and writing SARIF 2.1.0 takes: rules and their messages, places, and our own property bag."""
