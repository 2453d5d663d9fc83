"""The only room that writes measurements: it stores, reads, imports, exports and archives results."""
