"""The benchmark `script/bench load`: our load engine compared with wrk, wrk2, k6, oha, hey and Locust."""
