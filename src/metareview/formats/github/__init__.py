"""What GitHub says in its several dialects (REST, GraphQL, `gh`, webhooks), as one stream of remarks."""
