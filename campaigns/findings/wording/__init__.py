"""Sentences, labels, tones and icons of results, from values. Pure: no Django, no numbers that are not in the values."""
