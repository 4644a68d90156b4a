"""What comes over the network, written into files that `formats/` reads."""
