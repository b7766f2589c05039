#!/bin/sh
# The gradients of single operators against PyTorch's in float64: every case of ../shared/training/ops, with the
# evaluator and as objects, and some as C. usage: grad_cases.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_shared training/check_training.py || exit 77
have_numpy || exit 77
judge() { # OPTION...
    "$py" "$shared/training/check_training.py" --cmd "$arenac" --ops --timeout 100 "$@" >out.txt 2>&1 || {
        grep -v '^pass' out.txt
        fail "$*"
    }
}
judge --extra=--backend --extra=eval
if have_llvm; then judge --extra=--backend --extra=llvm; fi
judge --extra=--backend --extra=c --filter conv2d_3x3 --filter maxpool_3x3 --filter lstm_bi
[ $bad != 0 ] || echo "the gradients of all operators are PyTorch's"
