#!/bin/sh
# A language model with weights of 4 bits and caches that stay: the commands of docs/language-models.md, on this machine
# and on a Cortex-M7 in QEMU, print the same characters, which are those of ONNX Runtime for the file that
# examples/language-model/model.py writes. usage: language_model.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
want=',jj>j)8Pj)8ffffN6G6G[Xff~<~j2oT[]~j~T[u~j~j2[u~a'
cp "$src"/examples/language-model/* .
arenac() {
    "$arenac" "$@"
}
commands() { # SECTION: its commands
    sed -n "/^## $1/,/^## /p" "$src/docs/language-models.md" | sed -n '/^```sh/,/^```/p' | grep -v '^```'
}

commands "From a file" >host
[ "$(grep -c . host)" = 3 ] || die "docs/language-models.md has no commands"
(set -e && . ./host) >said 2>log || { cat log; die "the commands for this machine"; }
printf '%s\n' "$want" >wanted
tail -1 said | cmp -s - wanted || fail "on this machine: $(tail -1 said)"

# weights stay packed: half a byte and an eighth of a float each, and nothing else but norms, tables of positions
bytes=$("$arenac" plan -q --json tiny.onnx --dim past=63 --state 'present*=past*' |
    sed -n 's/.*"weight_bytes": *\([0-9]*\).*/\1/p' | head -1)
[ "${bytes:-0}" -gt 0 ] && [ "$bytes" -lt 162000 ] || fail "weights take ${bytes:-no} bytes"

# the same where steps are chunks for threads, and in vectors
for options in "-t x86-64-v3" "-t x86-64-v4-vnni" "--threads 2"; do
    # shellcheck disable=SC2086
    "$arenac" compile -q tiny.onnx --dim past=63 --state 'present*=past*' --name lm $options -o lm.c || fail "$options"
    case $options in
    *v3) grep -q avx2 /proc/cpuinfo 2>/dev/null || continue ;;
    *vnni) grep -q avx512_vnni /proc/cpuinfo 2>/dev/null || continue ;;
    esac
    cc -std=c11 -O2 -ffp-contract=off -I"$src/runtime" main.c generate.c lm.c -o lm && ./lm >said ||
        fail "the program with $options"
    tail -1 said | cmp -s - wanted || fail "with $options: $(tail -1 said)"
done

# a board
have_arm && have_shared firmware/harness/fwrun.py || exit $bad
commands "On a microcontroller" >board
(set -e && . ./board) >log 2>&1 || { cat log; die "the commands for the board"; }
python3 "$shared/firmware/harness/fwrun.py" --target cortex-m7 --src lm.c generate.c --main board.c -O 2 \
    --cflags=-I"$tmp" >said || { cat said; fail "on the Cortex-M7"; }
grep -qF "$want" said || { cat said; fail "on the Cortex-M7: other characters"; }
