"""Lies here so that pytest puts this folder on the import path, and offers all tests what is imported here."""

from dataset_server import data_folder, mirror, shop_bench

__all__ = ["data_folder", "mirror", "shop_bench"]
