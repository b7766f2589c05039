#!/bin/sh
# Follows the tutorials, with the files of examples/, as their readers would; reports parts whose tools are missing.
# usage: tutorials.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3 cc gcc make make
py=${ARENAC_ORT:-python3}
follow() {
    python3 "$src/tests/docs/tutorials.py" "$arenac" "$src" "$tmp" "$1" "$py" || fail "$1"
}
n=0
for page in $(grep -l "^cp \.\./examples/" "$src"/docs/*.md); do
    name=$(basename "$page" .md)
    n=$((n + 1))
    case $name in
    *-cortex-m) have_arm && follow "$name" ;;
    *-onnx | *-trust)
        "$py" -c "import numpy, onnx, onnxruntime" 2>/dev/null ||
            { missing "ONNX Runtime" "onnx and onnxruntime from PyPI (ARENAC_ORT names their Python)"; continue; }
        follow "$name" ;;
    *-pytorch)
        if have_torch && ! sanitized; then
            (as_installed "$tmp/site" && follow "$name" && exit $bad) || bad=1
        fi ;;
    *) follow "$name" ;;
    esac
done
[ $n -ge 6 ] || fail "only $n tutorials: the check itself is broken"
for d in "$src"/examples/*/; do
    grep -q "examples/$(basename "$d")/" "$src"/docs/*.md || fail "no page tells of $d"
done
exit $bad
