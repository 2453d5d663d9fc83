# Print the choice in force in files of the kernel: the one in brackets, or all of a line. $1 the files, as a pattern.
set -eu;
for file in $1; do
[ -w "$file" ] || { echo "there is no $file that $(id -un) may write" >&2; exit 1; };
done;
for file in $1; do
echo "$(sed 's/.*\[\(.*\)\].*/\1/' "$file")";
done | sort -u | paste -s -d ,
