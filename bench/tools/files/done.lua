done = function(summary, latency, requests)
  io.write("------------------------------\n")
  io.write(string.format("p99.9 %d\n", latency:percentile(99.9)))
end
