"""Pull requests from GitHub: its GraphQL API for everything but patches, which only REST has."""
