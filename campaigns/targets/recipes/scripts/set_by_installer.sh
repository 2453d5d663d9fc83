# Set an option by the installer. If that fails, set the former value again, and fail. Until it ends, the installer is locked.
# $1 value, $2 option, $3 command that prints the value in force, $4 installer.
set -eu;
fail() { echo "$1" >&2; exit 1; };
program=$(command -v "$4") || fail "there is no $4 on this machine";
exec 9< "$program"; flock 9;
before=$(sh -c "$3");
log=$(mktemp);
if "$4" "$2" "$1" > "$log" 2>&1 9<&-; then rm -f "$log"; exit 0; fi;
why=$(tail -c 300 "$log"); rm -f "$log";
[ -n "$before" ] || fail "$why; the installer is to be run again with the former value";
if "$4" "$2" "$before" > /dev/null 2>&1 9<&-; then fail "$why; $2 is $before again"; fi;
fail "$why; $2 could not be put back to $before: run the installer"
