"""The load engine: many virtual hosts, measured so that no wait is hidden. No Django.

wire        one connection, and the requests on it
failures    the classes of failure of a request
schedule    when each virtual host begins
recorder    the measured values, as counts of HDR histograms
generator   runs a sequence for every virtual host, in several processes
merging     adds what several processes, or several generators, have measured
"""
