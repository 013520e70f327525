"""Run time against the peers, both sides in one run: `make bench` prints ratios and writes
benchmarks/results.md."""
