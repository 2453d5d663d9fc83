"""The load engine: many virtual hosts, measured so that neither they nor a stall hide anything. No Django.

wire        one connection, and questions asked on it
failures    what a request may fail of
schedule    when each virtual host begins
recorder    what is measured, as counts of HDR histograms
generator   runs a sequence for every virtual host, in several processes
merging     adds what several processes, or several generators, have measured
"""
