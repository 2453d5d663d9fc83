"""perfdash on several machines: network namespaces of this one, installed from docs/how-to/machines.md."""
