# Print a variable that the main process of a service was started with.
# $1 command that prints the process, $2 name, $3 the value without it, $4 the file that sets it.
set -eu;
fail() { echo "$1" >&2; exit 1; };
[ -w "$4" ] || fail "there is no $4 that $(id -un) may write";
flock -ns "$(dirname "$(readlink -f "$4")")" true || fail "$4 is being set";
process=$(sh -c "$1");
[ "${process:-0}" -gt 0 ] || fail "the service does not run";
since=$(($(date +%s) - $(ps -o etimes= -p "$process")));
[ "$(stat -c %Y "$4")" -le "$since" ] || fail "$4 was changed after the service started: restart it";
known=$(tr '\0' '\n' < "/proc/$process/environ");
[ -n "$known" ] || fail "process $process has no variables: it ends just now, or hides them";
value=$(printf '%s\n' "$known" | sed -n "s/^$2=//p");
echo "${value:-$3}"
