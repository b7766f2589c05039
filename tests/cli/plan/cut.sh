#!/bin/sh
# A file that another process cuts while it is being read is an error with its name (E0301, exit status 3), in every
# format and whatever reads it; no crash, and no output. usage: cut.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
"${CC:-cc}" -shared -fPIC -O1 -o faults.so "$src/tests/cli/plan/io_faults.c" -ldl 2>cc.txt ||
    { echo "skipped: the C compiler makes no shared library"; exit 77; }
mkdir out
cut() { # FILE command...: it becomes empty when it has been mapped, the Nth that is
    name=$1
    shift
    expect 3 "^$name: error\[E0301\]: cannot read: the file became shorter while" \
        env FAULT="mmap:${nth:-1}:cut" LD_PRELOAD="$tmp/faults.so" "$arenac" "$@"
    [ -z "$(ls -A out)" ] || fail "$name: $(ls -A out)"
}
said=err.txt
for m in branch_int8.tflite tf_rnn.pbtxt squares.caffemodel dense-0000.params; do
    for verb in check show 'compile -o out/v'; do
        cp "$models/$m" cut.bin
        case $m in
        squares.*) other=$models/squares.prototxt nth=2 ;;
        dense-*) other=$models/dense-symbol.json nth=2 ;;
        *) other='' nth=1 ;;
        esac
        # shellcheck disable=SC2086
        cut cut.bin $verb $other cut.bin
    done
done
nth=1
(echo id,lower,upper,size && seq -f 'b%.0f,0,1,16' 2000) >cut.csv
cut cut.csv plan cut.csv -o out/p.csv
cp "$models/branch_int8.tflite" m.tflite
"$arenac" plan m.tflite -q --emit lock -o m.lock || fail 'no lock'
seq -f '# a comment %.0f' 1000 >>m.lock
nth=2 cut m.lock plan m.tflite --lock m.lock
# weights of a text
"$arenac" convert "$models/branch_int8.tflite" w.ag || fail 'no text'
[ -s w.weights ] || fail 'no weights'
nth=2 cut w.weights compile w.ag -o out/v
# one document with --json, the same as of other errors
cp m.tflite 'a "b.tflite'
FAULT=mmap:1:cut LD_PRELOAD="$tmp/faults.so" "$arenac" plan 'a "b.tflite' --json >cut.json 2>err.txt
mkdir empty # no name is similar
(cd empty && "$arenac" plan 'a "b.tflite' --json 2>err.txt) |
    sed 's/cannot read: [^"]*/cannot read: the file became shorter while it was being read/' | cmp - cut.json ||
    fail "another document: $(cat cut.json)"
# another one's SIGBUS is nothing of a file
sh -c "LD_PRELOAD='$tmp/faults.so' MARK='$tmp/mark' FAULT=write:1:wait '$arenac' compile m.tflite -q -o out/v & p=\$!
    while [ ! -e mark ]; do sleep 0.1; done; kill -BUS \$p; wait \$p" 2>err.txt
[ $? -gt 128 ] || fail 'a SIGBUS of another process is ignored'
exit $bad
