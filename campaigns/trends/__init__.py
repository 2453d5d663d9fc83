"""What changes over time: the same question again and again, as a line with its history."""
