"""The program that holds virtual hosts that are SSH servers, a port each. No shell, no command is ever executed.

`commands` reads what a smart proxy sends, `session` answers one command, `virtual_host` is one host with its port and its jobs,
`crew` all hosts of a process.
"""
