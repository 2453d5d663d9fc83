# Write a value to files of the kernel. $1 value, $2 the files, as a pattern.
set -eu;
for file in $2; do
[ -w "$file" ] || { echo "there is no $file that $(id -un) may write" >&2; exit 1; };
printf '%s' "$1" > "$file";
done
