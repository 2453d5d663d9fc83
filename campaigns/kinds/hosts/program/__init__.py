"""The programs that hold virtual hosts. No Django, no database.

No script is ever executed: it is counted and hashed, and the host waits as long as the request says.

This package is the program whose hosts wait for jobs at an MQTT broker, fetch their scripts, and report their ends: `mqtt` has the
packets, `messages` what a smart proxy publishes, `subscription` one connection to a broker, `virtual_host` one host with its jobs,
`crew` all hosts of a process. `ssh` is the program whose hosts are SSH servers. Both have `waiting` and `jobs`.
"""
