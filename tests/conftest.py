"""Lies here so that pytest puts this folder on the import path, and offers all tests what is imported here."""

import os
import signal

from hypothesis import HealthCheck, settings

from browser import browser, open_page
from dataset_server import data_folder, mirror, shop_bench
from spark_cluster import spark, spark_cluster

# A worker of pytest-xdist has the width of the terminal that it was started from; what is shown must not depend on it.
os.environ.pop("COLUMNS", None)

# What is started in the background (nohup make test &) ignores SIGINT, and so would every process that a test starts
# and interrupts. A worker of pytest-xdist inherits the same, and imports this file too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long something takes says nothing of it on a machine that runs other tests beside it.
settings.register_profile("slow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slow")

__all__ = ["browser", "data_folder", "mirror", "open_page", "shop_bench", "spark", "spark_cluster"]
