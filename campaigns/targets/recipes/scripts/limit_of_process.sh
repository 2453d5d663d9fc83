# Print the limit of open files that the main process of a service has; 0 if the file has no line of it: as the service itself has it.
# $1 command that prints the process, $2 the file that sets it.
set -eu;
fail() { echo "$1" >&2; exit 1; };
file=$(readlink -f "$2") || file=$2; folder=$(dirname "$file");
[ -d "$folder" ] || folder=$(dirname "$folder");
[ -w "$folder" ] || fail "there is no $2 that $(id -un) may write";
flock -ns "$folder" true || fail "$2 is being set";
process=$(sh -c "$1");
[ "${process:-0}" -gt 0 ] || fail "the service does not run";
[ -e "$2" ] || { echo 0; exit 0; };
since=$(($(date +%s) - $(ps -o etimes= -p "$process")));
[ "$(stat -c %Y "$2")" -le "$since" ] || fail "$2 was changed after the service started: restart it";
grep -q "^LimitNOFILE=" "$2" || { echo 0; exit 0; };
awk '/^Max open files/ { print $4 }' "/proc/$process/limits"
