"""Conclusions: who may conclude what, and when. Each step is one transaction under a row lock.

`drafting` writes a conclusion, `sending` sends it to review and takes it back, `deciding` decides on
it, `reopening` re-opens it when its data change, and says why; `checklist` is what the system checks, `baselines`
what later campaigns are compared with. `freezing` binds it to the data, `rows` holds locks and who may do what, `errors` why a step is refused.

Everybody locks in the order campaigns, conclusions, each by primary key.
"""
