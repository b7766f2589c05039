#!/bin/sh
# When one call of the system on a file fails (E0301, E0302), or all from one on, every verb says so and ends with 3,
# leaves no file, and never ends as if all was well. Calls that are interrupted, or give a byte at a time, change
# nothing. usage: no_io.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
"${CC:-cc}" -shared -fPIC -O1 -o faults.so "$src/tests/cli/plan/io_faults.c" -ldl 2>cc.txt ||
    { echo "skipped: the C compiler makes no shared library"; exit 77; }

runs=0
one() { # FAULT command...
    FAULT=$1
    shift
    export FAULT
    faulty faults.so got "$@"
    runs=$((runs + 1))
    case $status in
    0) cmp -s good.out got.out && diff -rq good got >/dev/null || fail "not all is there at $FAULT: $*" ;;
    3) grep -q 'E030[12]\]: cannot' got.err && [ -z "$(find got -mindepth 1)" ] ||
        fail "no word, or a file, at $FAULT: $* $(cat got.err; find got)" ;;
    *) fail "status $status at $FAULT: $*: $(head -1 got.err)" ;;
    esac
    unset FAULT
}

must() { # STATUS: of the last run
    [ "$status" = "$1" ] || fail "status $status, wanted $1: $*"
}

each() { # command...
    COUNT=$tmp/count
    export COUNT
    faulty faults.so good "$@" || { fail "without a fault: $*"; return; }
    unset COUNT
    while read -r call all; do
        n=1
        while [ "$n" -le "$all" ]; do
            one "$call:$n:5" "$@" # EIO
            case $call in write | fsync | rename) must 3 "$call $n fails: $*" ;; esac
            one "$call:$n:28:on" "$@" # ENOSPC
            case $call in
            read | write) one "$call:$n:4" "$@" && must 0 "$call $n is interrupted: $*" && # EINTR
                one "$call:$n:short:on" "$@" && must 0 "$call $n is short: $*" ;;
            fsync) one "$call:$n:4" "$@" && must 0 "$call $n is interrupted: $*" && # EINTR
                one "$call:$n:22:on" "$@" && must 0 "the file system cannot flush: $*" ;; # EINVAL
            esac
            n=$((n + 1))
        done
    done <"$tmp/count"
}

m=$models/branch_int8.tflite
each check "$models/gate.ag"
each plan "$models/gate.ag" --emit csv,lock,json -o made/p
each compile "$models/gate.ag" --emit c,h,rt -o made/v
each convert "$models/gate.ag" made/k.ag
each convert "$models/gate.ag" made/k.onnx
each run "$models/gate.ag" --random 1 --backend eval --output-dir made
each diff "$m" "$m"
each check "$models/squares.prototxt" "$models/squares.caffemodel"
stdin=$models/gate.ag
each compile - --emit c,h -o made/v
printf 'id,lower,upper,size\na,0,2,8\nb,1,3,8\n' >hello.csv
stdin=hello.csv
each plan - --from csv --emit csv -o made/p.csv
echo "$runs runs"
[ $runs -gt 500 ] || fail "$runs runs only"
exit $bad
