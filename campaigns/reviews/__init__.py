"""Conclusions, their review, comments, reports and bundles. Each step of a review is one transaction under a row lock.

`drafting` writes a conclusion, `sending` sends it to review and withdraws it, `deciding` decides on it, and
`reopening` re-opens it when its data change. `checklist` makes the automatic checks, `freezing` binds a conclusion
to its data, `baselines` finds what later campaigns are compared with. `rows` has locks and rights, `errors` the refusals.

All code locks in the order campaigns, conclusions, each by primary key.
"""
