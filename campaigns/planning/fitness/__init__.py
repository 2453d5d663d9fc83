"""Whether a target is fit to be measured: checks as data, judged by the runs of campaigns that made them.

A check is a kind with fixed parameters, and thresholds of a metric with their sources (`checks`). Making one is a campaign of
three runs, with all that campaigns have: lease, cancel, record. `known` reads what the latest ones say of a target; `judging`
decides; `making` begins one, or adds two runs.
"""
