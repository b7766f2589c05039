#!/bin/sh
# ONNX files that are wrong in one way each (bad_onnx.py): a message that names the place, exit 1, in little time and memory.
# usage: bad_onnx.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
require python3 python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
python3 "$src/tests/cli/bad_onnx.py" . >list
[ "$(wc -l <list)" -gt 35 ] || { echo "the files are missing"; exit 1; }
failed=0
while read -r line; do
    set -f
    IFS=$(printf '\t')
    # shellcheck disable=SC2086
    set -- $line
    unset IFS
    set +f
    file=$1 want=$2 status=0
    shift 2
    timeout 60 "$arenac" check "$file" >message 2>&1 || status=$?
    [ $status -eq "$want" ] || { echo "$file: exit $status, expected $want: $(head -c 300 message)"; failed=1; }
    grep -q -F "$file" message || { echo "$file: the message does not name it"; failed=1; }
    for name; do
        grep -q -F -e "$name" message || { echo "$file: no $name in: $(head -c 300 message)"; failed=1; }
    done
done <list
exit $failed
