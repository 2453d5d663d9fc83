# Print what a command says of an option of the installer, if the login may run it, and it does not set an option.
# $1 command that prints the value in force, $2 installer, $3 a folder that it writes.
set -eu;
fail() { echo "$1" >&2; exit 1; };
program=$(command -v "$2") || fail "there is no $2 on this machine";
[ -w "$3" ] || fail "$(id -un) may not run $2: it writes $3";
flock -ns "$program" true || fail "an option of $2 is being set";
sh -c "$1"
