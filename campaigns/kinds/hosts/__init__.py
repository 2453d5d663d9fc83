"""Virtual hosts that answer jobs of remote execution. No kind of test: any kind may use it, beside the load it measures.

`answering` starts the program and collects its rows, `answering_ssh` that of hosts which are SSH servers; `program/` holds the
connections, and imports no Django.
"""
