"""The program that registers: `python -m campaigns.kinds.registration.program`."""

from campaigns.kinds.load import generator
from campaigns.kinds.programs.lifeline import run
from campaigns.kinds.registration.program.sequence import prepare, register

if __name__ == "__main__":
    run(lambda lifeline: generator.run(lifeline, register, prepare))
