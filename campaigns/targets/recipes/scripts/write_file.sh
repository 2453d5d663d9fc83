# Write a value to files of the kernel. $1 value, then the files.
set -eu;
value=$1; shift;
for file in "$@"; do
[ -w "$file" ] || { echo "there is no $file that $(id -un) may write" >&2; exit 1; };
printf '%s' "$value" > "$file";
done
