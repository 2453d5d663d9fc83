"""The only readers of measurements: `runs` for analysis and plans, `pages` for what people see."""

from campaigns.queries.runs import earlier_run_seconds

__all__ = ["earlier_run_seconds"]
