"""Simulations that check campaigns/stats against its promises."""
