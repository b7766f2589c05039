#!/bin/sh
# GPT-2 as transformers and torch export it, in small: the commands of docs/language-models.md give a program that
# prints the tokens that PyTorch's own model continues with, on one thread and on two; a token that is not in the
# vocabulary and a cache that is full end it. usage: gpt2.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
py=python3
"$py" -c 'import torch, transformers, onnxscript' 2>/dev/null || {
    missing "torch, transformers or onnxscript" "them from PyPI"
    exit 77
}
cp "$src"/examples/language-model/gpt2* .
shape="--layers 2 --width 64 --heads 4 --vocab 96 --positions 32"
# shellcheck disable=SC2086
"$py" gpt2.py gpt2.onnx $shape --tokens 1 7 9 --count 24 >said 2>log || { cat log; die "gpt2.py"; }
want=$(tail -1 said)
[ "$(echo "$want" | wc -w)" = 27 ] && [ "$(echo "$want" | tr ' ' '\n' | sort -u | wc -l)" -gt 8 ] || die "tokens: $want"

built() { # OPTIONS: ./gpt2
    # shellcheck disable=SC2086
    "$arenac" compile -q gpt2.onnx --dim past=31 --state 'present*=past*' "$@" -o gpt2.c &&
        cc -std=c11 -O2 -ffp-contract=off -I"$src/runtime" gpt2_tokens.c gpt2.c "$src/runtime/arn_pool.c" -pthread \
            -o gpt2
}
for threads in 1 2; do
    built --threads $threads || fail "compiling, $threads threads"
    [ "1 7 9 $(./gpt2 24 1 7 9)" = "$want " ] || fail "$threads threads: $(./gpt2 24 1 7 9), PyTorch: $want"
done
! ./gpt2 3 1 96 >out.txt 2>&1 && grep -q "token 2 of 5" out.txt || fail "a token out of range: $(cat out.txt)"
! ./gpt2 33 1 >out.txt 2>&1 && grep -q "token 33 of 34" out.txt || fail "a full cache: $(cat out.txt)"
# a prompt at once: masks of what each token sees are made of the length of the caches
# shellcheck disable=SC2086
"$py" gpt2.py gpt2.onnx $shape --prompt 2>log || { cat log; die "gpt2.py --prompt"; }
for n in 2 4; do # the prompt in two blocks, and in one
    "$arenac" compile -q gpt2.onnx --dim n=1..$n --dim past=32-n --sizes one --state 'present*=past*' -o gpt2.c &&
        cc -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror gpt2_prompt.c gpt2.c -lm -o gpt2 ||
        fail "compiling, $n at once"
    [ "1 7 9 $(./gpt2 24 1 7 9)" = "$want " ] || fail "$n at once: $(./gpt2 24 1 7 9), PyTorch: $want"
done
[ "$bad" = 0 ] && echo "GPT-2: PyTorch's tokens"
