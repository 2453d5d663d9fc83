"""A sink that remembers."""

from dataclasses import dataclass, field

from campaigns.targets.watches.base import ClockReading, Event, Frame, Key


@dataclass
class Collected:
    """What a source has given."""

    frames: list[Frame] = field(default_factory=list)
    clocks: list[ClockReading] = field(default_factory=list)
    facts: dict[str, str | float] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def frame(self, frame: Frame) -> None:
        self.frames.append(frame)

    def clock(self, reading: ClockReading) -> None:
        self.clocks.append(reading)

    def fact(self, name: str, value: str | float) -> None:
        self.facts[name] = value

    def event(self, event: Event) -> None:
        self.events.append(event)

    def cost(self, cpu_seconds: float) -> None:
        self.costs.append(cpu_seconds)

    def values(self) -> dict[Key, float]:
        """Return the last value of each."""
        return {key: value for frame in self.frames for key, value in frame.values.items()}

    def grown(self, quantity: str, label: str = "") -> float:
        """Return by how much a counter grew."""
        key = Key(quantity, label)
        found = [frame.values[key] for frame in self.frames if key in frame.values]
        return found[-1] - found[0]

    def words(self) -> str:
        """Return all texts in it."""
        return repr((self.facts, self.events, self.values()))
