#!/bin/sh
# C for firmware breaks no rule of MISRA C:2012 but those that docs/misra.md names, as cppcheck's addon sees it; and
# every rule that the page names is broken somewhere. usage: misra.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cppcheck cppcheck
echo 'int f(int x); int f(int x) { if (x > 1) x = 2; return x; }' >probe.c
cppcheck -q --addon=misra probe.c 2>&1 | grep -q misra-c2012-15.6 ||
    { missing "cppcheck's MISRA addon" cppcheck; exit 77; }
grep -o '^| [0-9][0-9.]* ' "$src/docs/misra.md" | tr -d '| ' | sort >allowed
[ "$(wc -l <allowed)" -ge 5 ] || die "no table in docs/misra.md"
# Macros of stdint.h, limits.h and float.h as in compilers; the addon has only their names. Tables are cut to one
# number: the rest is more of the same.
check() { # FILE OPTION...
    "$arenac" compile -q "$@" --name m --weights rodata -o m.c || { fail "compile $*"; return; }
    awk '/^ +(-|[0-9]|U?INT64_C)/ && table { if (!first++) print "    0" (words ? "u" : ""); next }
        / = \{+$/ { table = 1; first = 0; words = /\{\{$/ } /^\}/ { table = 0 } { print }' m.c >cut.c
    cppcheck -q --addon=misra --std=c99 --platform=arm32-wchar_t4 --suppress=missingIncludeSystem \
        '-DUINT64_C(x)=x##ULL' '-DINT64_C(x)=x##LL' '-DINT32_MIN=(-2147483647-1)' '-DINT64_MAX=9223372036854775807LL' \
        '-DINT64_MIN=(-9223372036854775807LL-1)' -DINT_MAX=2147483647 -DDBL_MANT_DIG=53 \
        --template='{id} {file}:{line}' cut.c >found 2>&1
    grep -v '^misra-c2012-' found && fail "cppcheck: $*"
    sed -n 's/^misra-c2012-\([0-9.]*\) .*/\1/p' found | sort -u >rules
    cat rules >>broken
    for rule in $(comm -13 allowed rules); do
        fail "rule $rule: $*"
        sed -n "s/^misra-c2012-$rule .*:\([0-9]*\)$/\1/p" found | head -3 | while read -r line; do
            sed -n "${line}p" cut.c
        done
    done
    sed -n 's/^misra-c2012-10.1 .*:\([0-9]*\)$/\1p/p' found | sed -n -f - cut.c | grep -v ' >>' &&
        fail "rule 10.1 is broken by more than shifts: $*"
}
m=$models
check "$m/digits_int8.tflite" -t cortex-m4
check "$m/dsnet_int8.tflite" -t cortex-m0plus --stripe auto --share-kernels
check "$m/digits_int8.tflite" -t rv32imac --io rows
check "$m/dsnet_int8.tflite" -t rv32imac-zve32x --stripe auto
check "$m/digits_int8.tflite" -t cortex-m55 --mem sram:1K,fast --mem psram:1M --poison
check "$m/dsnet_f32.tflite" -t cortex-m3
check "$m/tf_rnn.pbtxt" -t cortex-m4
check "$src/tests/cross/encoder.ag" -t cortex-m7
check "$src/tests/cross/types.ag" -t cortex-m0plus
check "$src/tests/golden/c/state.ag" -t cortex-m33
check "$src/tests/golden/c/index-checked.ag" -t cortex-m4
for rule in $(sort -u broken | comm -23 allowed -); do
    fail "docs/misra.md names rule $rule, which nothing breaks"
done
