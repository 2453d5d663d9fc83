"""The only readers of measurements: `runs` for analysis and plans, `pages` for what people see."""
