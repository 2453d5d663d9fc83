"""Files in: finished campaigns from runs that were made elsewhere.

`rows` reads a CSV (pure); `campaigns` stores it; `demonstration` brings what a newcomer sees first.
"""
