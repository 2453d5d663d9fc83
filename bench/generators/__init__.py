"""What `script/bench load` measures: our load engine beside wrk, wrk2, k6, oha, hey and Locust."""
