from dataset_server import data_folder, mirror, shop_bench

__all__ = ["data_folder", "mirror", "shop_bench"]
