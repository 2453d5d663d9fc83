# Print the value of a line of a file, if the service has started since the file was changed.
# $1 file, $2 key, $3 what stands between (“blank” for one; “directive” for one, behind a key in small or capital letters), $4 the
# value without such a line, $5 command that prints when the service started, as date reads it, $6 what stands behind the value, if anything.
set -eu;
fail() { echo "$1" >&2; exit 1; };
file=$(readlink -f "$1") || fail "$(id -un) cannot reach $1";
folder=$(dirname "$file");
[ -w "$folder" ] || fail "there is no $file that $(id -un) may write";
flock -ns "$folder" true || fail "$1 is being set";
since=$(sh -c "$5");
[ -n "$since" ] || fail "the service of $1 does not run: nobody knows when it started";
since=$(date -d "$since" +%s);
[ -e "$file" ] || { echo "$4"; exit 0; };
[ -w "$file" ] || fail "there is no $file that $(id -un) may write";
[ "$(stat -c %Y "$file")" -le "$since" ] || fail "$1 was changed after the service started: restart it";
key="$2" between="$3" usual="$4" behind="${6:-}" awk '
  function same(text) { return ENVIRON["between"] == "directive" ? tolower(text) : text }
  BEGIN { key = same(ENVIRON["key"]); value = ENVIRON["usual"]; between = ENVIRON["between"]; gsub(/blank|directive|[ \t]/, "", between) }
  { rest = $0; sub(/^[ \t]*/, "", rest); after = substr(rest, length(key) + 1, 1) }
  index(same(rest), key) == 1 && after !~ /[A-Za-z0-9_]/ {
    value = substr(rest, length(key) + 1); sub(/^[ \t]*/, "", value);
    if (between != "" && index(value, between) == 1) value = substr(value, length(between) + 1);
    sub(/[ \t]*(#.*)?$/, "", value); sub(/^[ \t]*/, "", value); gsub(/["\047]/, "", value);
    if (ENVIRON["behind"] != "") sub(ENVIRON["behind"] "$", "", value) }
  END { print value }' "$file"
