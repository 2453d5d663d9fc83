# Print what a command says of an option of the installer, if the login may run it.
# $1 command that prints the value in force, $2 installer, $3 a folder that it writes.
set -eu;
fail() { echo "$1" >&2; exit 1; };
command -v "$2" > /dev/null || fail "there is no $2 on this machine";
[ -w "$3" ] || fail "$(id -un) may not run $2: it writes $3";
sh -c "$1"
