"""Lies here so that pytest puts this folder on the import path: tests share `model_server`."""
