"""Lies here so that pytest puts this folder on the import path, and offers all tests what is imported here."""

import os

from browser import browser, open_page
from dataset_server import data_folder, mirror, shop_bench

# A worker of pytest-xdist has the width of the terminal that it was started from; what is shown must not depend on it.
os.environ.pop("COLUMNS", None)

__all__ = ["browser", "data_folder", "mirror", "open_page", "shop_bench"]
