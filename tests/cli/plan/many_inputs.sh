#!/bin/sh
# plan and compile with 100,000 inputs, and with as many results: their time grows with the number, not with its
# square (minutes). The limit is of CPU seconds, 20 times what each takes. usage: many_inputs.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
n=100000 seconds=60
sanitized && n=20000
awk -v n=$n 'BEGIN {
    print "graph sums {"
    for (i = 0; i < n; i++)
        print "  input x" i ": f32[4]"
    for (i = 1; i < n; i++)
        print "  s" i " = add(" (i == 1 ? "x0" : "s" i - 1) ", x" i ")"
    print "  output s" n - 1 "\n}"
}' >inputs.ag
awk -v n=$((n / 4)) 'BEGIN {
    print "graph all {"
    for (i = 0; i < n; i++)
        print "  input x" i ": f32[4]"
    for (i = 0; i < n; i++)
        print "  y" i " = neg(x" i ")"
    printf "  output y0"
    for (i = 1; i < n; i++)
        printf ", y%d", i
    print "\n}"
}' >outputs.ag
quick() { (ulimit -t $seconds && "$arenac" "$@"); }
for m in inputs outputs; do
    expect 0 "" quick plan -q $m.ag
    expect 0 "" quick compile -q $m.ag -o $m.c
    grep -q "x$((n / 4 - 1))" $m.c || fail "$m.c does not have all inputs"
done
exit $bad
