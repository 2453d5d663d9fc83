# Set a value in the last line of a file that has its key, or in a new one at the end; then restart what reads it.
# If that fails, put the file back, restart again, and fail. Until it ends, the folder is locked, and nobody reads the value.
# $1 value, $2 file, $3 key, $4 what stands between (“blank” for one; “directive” for one, behind a key in small or capital letters),
# $5 command that restarts; then, each “-” or left out for none:
# $6 what stands behind the value, $7 the first line of a new file, $8 the value for which the line is taken away; with it a file that has
# only the first line then.
set -eu;
fail() { echo "$1" >&2; exit 1; };
none() { case $1 in -) ;; *) printf '%s' "$1";; esac; };
restart() { sh -c "$1" 9<&-; };
between=$4; case $between in blank|directive) between=" ";; esac;
behind=$(none "${6:--}"); first=$(none "${7:--}"); without=$(none "${8:--}");
mkdir -p "$(dirname "$2")" 2> /dev/null || fail "$(id -un) may not make $(dirname "$2")";
file=$(readlink -f "$2") || fail "$(id -un) cannot reach $2";
[ -w "$(dirname "$file")" ] || fail "there is no $file that $(id -un) may write";
exec 9< "$(dirname "$file")"; flock 9;
had=yes; [ -e "$file" ] || { had=no; printf '%s\n' "$first" > "$file"; };
[ -w "$file" ] || fail "there is no $file that $(id -un) may write";
old=$file.perfdash-old; new=$file.perfdash-new; said=$(mktemp);
gone=; [ -z "$without" ] || [ "$1" != "$without" ] || gone=yes;
cp -p "$file" "$old"; cp -p "$file" "$new";
key="$3" text="$3$between$1$behind" gone=$gone any=$4 awk '
  function same(text) { return ENVIRON["any"] == "directive" ? tolower(text) : text }
  BEGIN { key = same(ENVIRON["key"]); text = ENVIRON["text"]; gone = ENVIRON["gone"] }
  { rest = $0; sub(/^[ \t]*/, "", rest); blanks = substr($0, 1, length($0) - length(rest)); after = substr(rest, length(key) + 1, 1) }
  NR == FNR { if (index(same(rest), key) == 1 && after !~ /[A-Za-z0-9_]/) last = FNR; next }
  FNR == last { if (!gone) print blanks text; next }
  { print }
  END { if (!last && !gone) print text }' "$old" "$old" > "$new";
mv -f "$new" "$file";
if restart "$5" > /dev/null 2> "$said"; then
rm -f "$old" "$said";
[ -z "$gone" ] || [ -z "$first" ] || [ "$(cat "$file")" != "$first" ] || rm -f "$file";
exit 0; fi;
why=$(tail -c 500 "$said"); rm -f "$said";
if [ "$had" = yes ]; then mv -f "$old" "$file"; else rm -f "$old" "$file"; fi;
if restart "$5" > /dev/null 2>&1; then fail "$why; $2 is put back, and the service runs again"; fi;
fail "$why; $2 is put back, but the service does not start"
