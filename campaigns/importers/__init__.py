"""Files in: finished campaigns from runs that were made elsewhere.

`campaigns.readers` reads a file (pure); `campaigns` stores its runs; `demonstration` brings what a
newcomer sees first.
"""
