"""Populations: hosts that are registered once at a target, for the runs of many campaigns.

`asking` has what a person may do, `identities` what is stored of the hosts. `campaigns.execution.populations` registers and
deletes them.
"""
