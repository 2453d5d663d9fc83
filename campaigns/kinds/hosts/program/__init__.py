"""The program that holds virtual hosts: they wait for jobs at an MQTT broker, fetch their scripts, and report their ends.

No Django, no database. No script is ever executed: it is counted and hashed, and the host waits as long as the request says.
`mqtt` has the packets, `messages` what a smart proxy publishes, `subscription` one connection to a broker, `virtual_host` one
host with its jobs, `crew` all hosts of a process.
"""
