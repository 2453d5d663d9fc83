"""Run an engine program as `python -m` does, but start faster. A script: its arguments are a module and a search path.

`program.command` starts it without `site`, which takes longer to read its configuration than some programs
to import what they need; the search path is that of the process that starts the program.
"""

import gc
import os
import sys

gc.disable()  # what is imported stays; `lifeline.run` enables it
module, path = sys.argv[1:]
sys.argv[1:] = []
sys.path[:0] = [directory for directory in path.split(os.pathsep) if directory not in sys.path]

import runpy  # noqa: E402
from importlib.util import find_spec  # noqa: E402

if find_spec(module.partition(".")[0]) is None:
    import site  # it is installed by a hook, as packages in development are

    site.main()
runpy.run_module(module, run_name="__main__", alter_sys=True)
