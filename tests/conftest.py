"""Lies here so that pytest puts this folder on the import path, and offers all tests what is imported here."""

from browser import browser, open_page
from dataset_server import data_folder, mirror, shop_bench

__all__ = ["browser", "data_folder", "mirror", "open_page", "shop_bench"]
