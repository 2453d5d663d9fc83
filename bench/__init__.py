"""What `script/bench` runs: each module beside this one is a benchmark."""
