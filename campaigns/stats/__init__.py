"""The arithmetic of findings. Pure: floats in, frozen dataclasses out; no database, no clock, no Django."""
