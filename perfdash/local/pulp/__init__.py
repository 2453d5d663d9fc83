"""script/pulp: a real Pulp 3 on this machine, as a target for those who have none.

Pulp is a program of its own, in an environment of its own: nothing of it is imported here.
"""
