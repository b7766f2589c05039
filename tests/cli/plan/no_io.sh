#!/bin/sh
# If one system call on a file fails (E0301, E0302), or all from one on, every verb reports it and exits with 3, leaves
# no file, and never reports success. Calls that are interrupted, or return a byte at a time, change nothing. Under
# ASan, nothing leaks. usage: no_io.sh ARENAC SOURCE_DIR [EVERY: of so many places one]
. "$2/tests/cli/prelude"
every=${3:-1}
require "${CC:-cc}" gcc
if sanitized; then preloaded || exit 77; fi
"${CC:-cc}" -shared -fPIC -O1 -o faults.so "$src/tests/cli/plan/io_faults.c" -ldl 2>cc.txt ||
    { echo "skipped: the C compiler makes no shared library"; exit 77; }

runs=0 timed= # timed: what it prints and writes has times in it
one() { # FAULT command...
    FAULT=$1
    shift
    export FAULT
    faulty faults.so got "$@"
    runs=$((runs + 1))
    case $status in
    0) if [ "$timed" ]; then [ "$(ls -AR good)" = "$(ls -AR got | sed s/^got/good/)" ]; else
        cmp -s good.out got.out && diff -rq good got >/dev/null; fi || fail "not all is there at $FAULT: $*" ;;
    3) grep -q 'E030[12]\]: ' got.err && [ -z "$(find got -mindepth 1)" ] ||
        fail "no word, or a file, at $FAULT: $* $(cat got.err; find got)" ;;
    *) fail "status $status at $FAULT: $*: $(head -1 got.err)" ;;
    esac
    unset FAULT
}

must() { # STATUS: of the last run
    [ "$status" = "$1" ] || fail "status $status, wanted $1: $*"
}

faults() { # CALL N command...
    call=$1 n=$2
    shift 2
    one "$call:$n:5" "$@" # EIO
    case $call in write | fsync | rename) must 3 "$call $n fails: $*" ;; esac
    one "$call:$n:28:on" "$@" # ENOSPC
    case $call in
    read | write) one "$call:$n:4" "$@" && must 0 "$call $n is interrupted: $*" && # EINTR
        one "$call:$n:short:on" "$@" && must 0 "$call $n is short: $*" ;;
    fsync) one "$call:$n:4" "$@" && must 0 "$call $n is interrupted: $*" && # EINTR
        one "$call:$n:22:on" "$@" && must 0 "the file system cannot flush: $*" ;; # EINVAL
    esac
}

each() { # command...
    COUNT=$tmp/count
    export COUNT
    faulty faults.so good "$@" || { fail "without a fault: $*"; return; }
    unset COUNT
    while read -r call all; do
        n=1
        while [ "$n" -le "$all" ]; do
            if turn; then faults "$call" "$n" "$@"; fi
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
stdin=/dev/null

# the other verbs
"$arenac" convert "$models/gate.ag" gate.onnx && "$arenac" plan "$m" --emit csv,problem,lock -q -o branch || die prepare
each show "$models/gate.ag" --json
each verify branch.csv branch.problem.csv
each verify branch.lock "$m"
each plan "$models/gate.ag" gate.onnx --share exclusive --json
each plan "$m" --lock made/new.lock --update-lock
each prove "$models/gate.ag" -o made/g.certificate
each grad "$models/gate.ag" --random 1 --cotangent y="$models/gate.out0.0.npy" --backend eval --output-dir made/g
each explain E0101
each targets
each completion bash
for f in "$models"/*/saved_model.pb; do each check "${f%/*}"; break; done
timed=1
each train gate.onnx --data x="$models/gate.in0.0.npy" --target "$models/gate.out0.0.npy" --loss mse --steps 2 \
    --lr 0.1 --batch 1 --optimizer sgd --backend eval -o made/t.onnx --log made/log.csv
# a compiler runs each time
[ -z "${ARENAC_LONG:-}" ] || each bench "$models/gate.ag" --random 1 --runs 1
[ -z "${ARENAC_LONG:-}" ] || each python "$models/gate.ag" -o made
each run "$models/gate.ag" --random 1 --output-dir made
echo "$runs runs"
[ $((runs * every)) -gt 500 ] || fail "$runs runs only"
exit $bad
