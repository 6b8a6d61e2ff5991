"""armdyn against its peers: `python -m benchmarks`."""
