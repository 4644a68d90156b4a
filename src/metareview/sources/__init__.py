"""Data over the network: the APIs of GitHub and GitLab, and public data sets."""
