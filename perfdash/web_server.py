"""Runs Granian, the web server, as `python -m granian` does, in a process that is hidden: `import perfdash` hides it."""

import runpy

if __name__ == "__main__":
    runpy.run_module("granian", run_name="__main__", alter_sys=True)
