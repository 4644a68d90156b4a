"""Every format that metareview reads or writes, one file each."""
