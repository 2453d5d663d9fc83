"""The program that registers: `python -m campaigns.engines.registering`."""

from campaigns.engines.lifeline import run
from campaigns.engines.load import generator
from campaigns.engines.registering.sequence import prepare, register

if __name__ == "__main__":
    run(lambda lifeline: generator.run(lifeline, register, prepare))
