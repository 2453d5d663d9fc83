"""Simulation of what campaigns/stats says, against what it promises."""
