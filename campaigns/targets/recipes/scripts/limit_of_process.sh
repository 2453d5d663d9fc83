# Print the limit of open files that the main process of a service has.
# $1 command that prints the process, $2 the file that sets it.
set -eu;
fail() { echo "$1" >&2; exit 1; };
folder=$(dirname "$2");
[ -d "$folder" ] || folder=$(dirname "$folder");
[ -w "$folder" ] || fail "there is no $2 that $(id -un) may write";
process=$(sh -c "$1");
[ "${process:-0}" -gt 0 ] || fail "the service does not run";
awk '/^Max open files/ { print $4 }' "/proc/$process/limits"
