"""Where the work runs: processes of this machine, a Spark cluster. Both map the same functions over its parts."""
