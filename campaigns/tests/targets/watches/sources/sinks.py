"""Collect what a source reads, and watch for a few looks."""

from campaigns.kit.network import parse_rules
from campaigns.targets.watches.base import Access, Key

LOOPBACK = parse_rules("127.0.0.1:*")


class Collected:
    """A sink that keeps all."""

    def __init__(self):
        self.frames, self.clocks, self.facts, self.events, self.cpu_seconds = [], [], {}, [], []

    def frame(self, frame):
        self.frames.append(frame)

    def clock(self, reading):
        self.clocks.append(reading)

    def fact(self, name, value):
        self.facts[name] = value

    def event(self, event):
        self.events.append(event)

    def cost(self, cpu_seconds):
        self.cpu_seconds.append(cpu_seconds)

    def series(self, quantity, label=""):
        """Return the values of a quantity in the frames that have it."""
        key = Key(quantity, label)
        return [frame.values[key] for frame in self.frames if key in frame.values]

    def last(self, quantity, label=""):
        return self.series(quantity, label)[-1]

    def labels(self, quantity):
        return {
            key.label for frame in self.frames for key in frame.values if key.quantity == quantity
        }


class Looks:
    """`stopped` of a watch that ends after so many looks, and waits for none. between: called before each look but the first."""

    def __init__(self, number, between=lambda: None):
        self.number, self.between, self.done = number, between, 0

    def __call__(self, seconds):
        if self.done == self.number:
            return True
        if self.done:
            self.between()
        self.done += 1
        return False


def watched(source, address, *, looks=2, between=lambda: None, rules=LOOPBACK, **access):
    """Return what a source reads in a few looks without a pause."""
    sink = Collected()
    address = source.check_address(address)
    source.sample(Access(address, rules, **access), sink, Looks(looks, between))
    return sink
