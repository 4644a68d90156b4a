"""The viewer: reads runs, writes labels, and never asks a model."""
