"""Benchmarks for `script/bench`: each module of this package is one."""
