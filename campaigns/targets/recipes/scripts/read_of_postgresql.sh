# Print what psql says of a parameter, if the login may write the file that sets it, and does not set it just now.
# $1 how psql is run, $2 file, $3 name, $4 its value in SQL.
set -eu;
fail() { echo "$1" >&2; exit 1; };
[ -w "$2" ] || fail "there is no $2 that $(id -un) may write";
flock -ns "$(dirname "$(readlink -f "$2")")" true || fail "$2 is being set";
cd /;
$1 -XAtc "SELECT CASE WHEN pending_restart THEN 'a change waits for a restart' ELSE ($4)::text END FROM pg_settings WHERE name = '$3'"
