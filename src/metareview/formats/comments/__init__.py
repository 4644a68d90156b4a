"""The comment formats that come with metareview, one module per format, each with its PLUGIN."""
