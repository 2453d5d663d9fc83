# Sourced by its neighbours. POSIX sh.

# Programs are started by the dozen: with this, each would compile all that it imports.
unset PYTHONDONTWRITEBYTECODE

# Find Python, make the virtual environment with the group $1 of requirements.lock, and set `root` and `venv`.
activate() {
  root=$(cd "$(dirname "$0")/.." && pwd)
  python=
  for name in ${PYTHON:+"$PYTHON"} python3.11 python3.12 python3.13 python3.14 python3; do
    if "$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      python=$name
      break
    fi
  done
  if [ -z "$python" ]; then
    echo "Python 3.11 or newer was not found. Install it, or name it: PYTHON=/path/to/python $0" >&2
    exit 1
  fi
  venv=$("$python" -B "$root/script/environment.py" "$1") || exit 1
}
