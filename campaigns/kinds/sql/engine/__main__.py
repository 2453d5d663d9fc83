"""The engine of the kind `sql`: pgbench, whose log is folded while it is written. A program.

docs/reference/kinds/sql.md defines what is measured; a change here changes it.
"""

from campaigns.kinds.programs import lifeline
from campaigns.kinds.sql.engine.running import main

if __name__ == "__main__":
    lifeline.run(main, forks=True)
