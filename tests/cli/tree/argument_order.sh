#!/bin/sh
# No call has two arguments that each make tensors or nodes of the graph: gcc evaluates them from right to left, clang
# from left to right, and the same source gives the same bytes from every build.
# usage: argument_order.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3 "${CC:-cc}" gcc
check() { python3 "$src/tests/cli/tree/argument_order.py" "${CC:-cc}" "$(dirname "$arenac")/made" "$@"; }

# Two planted calls, one of them inside a macro, are found; calls in sequence are allowed.
mkdir -p import
cat >import/planted.c <<'C'
void *ac_tensor_new(int n), *pair(void *x, void *y), *(*by)(void *x, void *y);
static void *zero(void) { return ac_tensor_new(0); }
static void *find(int n) { return n ? (void *)0 : (void *)1; }
#define WITH_ZERO(x) pair(x, zero())
void *ac_both(void) { return pair(zero(), find(ac_tensor_new(1) != 0)); }
void *ac_hidden(void) { return WITH_ZERO(ac_both()); }
void *ac_fine(void) { void *x = WITH_ZERO(find(2)); return pair(x, WITH_ZERO(by(find(3), find(4)))); }
C
check import/planted.c >found.txt && die "nothing is found in planted.c"
planted="import/planted.c:5: import/planted.c:6: 6 "
[ "$(cut -d" " -f1 found.txt | tr "\n" " ")" = "$planted" ] || { cat found.txt; die "not both are found in planted.c"; }

cd "$src" || exit 1
# shellcheck disable=SC2046
check $(find import ir/grad ir/graph ir/make ir/pass ir/train -name '*.c' | sort) >"$tmp/found.txt" ||
    { cat "$tmp/found.txt"; die "make all but one before the call, the last one first, as gcc does"; }
[ "$(cat "$tmp/found.txt")" -gt 1000 ] || die "only $(cat "$tmp/found.txt") calls seen: the check itself is broken"
