#!/bin/sh
# differential.sh - 2,000 generated programs (operators of random types, shapes and schedules; random loops), 1,000 more
# as kernels of a GPU, and every instruction in every type give the same bits on the evaluator, C and LLVM, or the
# emulation of a GPU. usage: differential.sh [PROGRAMS [SEED]]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
exec "$root/build/tests/test_backends" "${1:-2000}" "${2:-1}" 1
