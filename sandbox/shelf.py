"""A bounded place for what can be made again. Pure."""

from collections import OrderedDict
from collections.abc import Sized
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V", bound=Sized)


class Shelf(Generic[K, V]):
    """Keeps values up to so many bytes in all; the one that was least recently used goes first.

    The `len` of a value is its bytes.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Give the value, None where it is not (or no longer) there."""
        value = self._values.get(key)
        if value is not None:
            self._values.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Store a value; one that is larger than the shelf stays until the next."""
        self.drop(key)
        self._values[key] = value
        self._bytes += len(value)
        while self._bytes > self._most and len(self._values) > 1:
            self._bytes -= len(self._values.popitem(last=False)[1])

    def drop(self, key: K) -> None:
        """Forget a value, if it is there."""
        if key in self._values:
            self._bytes -= len(self._values.pop(key))

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._bytes = 0
