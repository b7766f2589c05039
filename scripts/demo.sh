#!/bin/sh
# demo.sh - the main use on a real model: installs missing packages, builds arenac, compiles the int8 digit classifier
# of models/ to C, builds that C with the host compiler (no heap, no library), runs it on the held-out digits, and
# prints the memory report and the accuracy.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
need gcc gcc /usr/include/stdio.h libc6-dev make make cmake cmake
build "$root/build" -DBUILD_TESTING=OFF

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo "== arenac compile models/digits_int8.tflite -o digits.c"
"$root/build/arenac" compile "$root/models/digits_int8.tflite" --name digits -o "$out/digits.c"

echo
echo "== gcc -std=c99 -O2 -Wall -Wextra -Wpedantic digits.c demo.c, then run on the held-out digits"
gcc -std=c99 -O2 -Wall -Wextra -Wpedantic -I"$out" "$out/digits.c" "$root/scripts/demo.c" -o "$out/demo"
size "$out/demo" 2>/dev/null | awk 'NR == 2 { print "program: text " $1 " B, data " $2 " B, bss " $3 " B" }' || true
"$out/demo" "$root/models/digits.test_x.npy" "$root/models/digits.test_y.npy"
