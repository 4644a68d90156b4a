"""What action.yml runs, with its inputs as environment variables: `python -m metareview.action measure|comment`."""
