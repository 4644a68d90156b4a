"""The routers that come with metareview: one module per router, each with its class as `PLUGIN`."""
