"""A simulated Pulp 3, written from answers of pulpcore 3.123.1; it stores counts, never bytes."""
