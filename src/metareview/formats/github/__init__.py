"""GitHub's answers in all dialects (REST, GraphQL, `gh`, webhooks) as comments, commits and events."""
