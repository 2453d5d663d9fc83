"""Virtual hosts that answer jobs of remote execution. No kind of test: any kind may use it, beside the load it measures.

`answering` starts the program and collects its rows; `program/` holds the connections, and imports no Django.
"""
