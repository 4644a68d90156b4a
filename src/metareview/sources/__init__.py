"""What comes over the network: it is written into files, and formats/ reads those."""
