#!/bin/sh
# compile and plan report the files they write, with sizes and a command that compiles them, also as a make rule
# (--depfile); python creates its folder. usage: written.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models/digits_int8.tflite
mkdir "a b"
"$arenac" compile "$m" --emit c,h,svg --weights asm -o "a b/m" --depfile m.d >said.txt || fail "compile"
sed '1,/^  Written$/d; /Compile it with/d' said.txt | sed 's/^ *//; s/  */ /g' | tr -d , >list.txt
for f in m.c m.h m.svg m.c.bin; do
    grep -qx "a b/$f $(wc -c <"a b/$f") B" list.txt || { cat said.txt; fail "a b/$f is not in the list with its size"; }
done
[ "$(wc -l <list.txt)" = 5 ] || { cat list.txt; fail "the list has other files"; }
command=$(sed -n 's/^  Compile it with: //p' said.txt)
if have cc gcc; then
    sh -c "$command" || fail "$command"
    [ -s m.o ] || fail "$command makes no m.o"
fi
if have arm-none-eabi-gcc gcc-arm-none-eabi; then
    command=$("$arenac" compile "$m" -t cortex-m4 -o f.c | sed -n 's/^  Compile it with: //p')
    sh -c "$command" && [ -s f.o ] || fail "$command"
fi
# no message if standard output has other contents
[ "$("$arenac" plan "$m" --emit lock -o - | grep -c Written)" = 0 ] || fail "a list among data"
[ -z "$("$arenac" compile -q "$m" -o q.c)" ] || fail "a list with -q"
"$arenac" compile --json "$m" -o q.c | grep -q '"schema"' || fail "json"
"$arenac" compile --json "$m" -o q.c >json.txt && ! grep -q Written json.txt || fail "a list in JSON"
# a file that cannot appear is not in any list
expect 3 'cannot write' "$arenac" compile "$m" -o nowhere/m.c
! grep -q Written out.txt || fail "files that did not appear are listed"

# --depfile: make builds again when a file that was read is newer, all of them are there
cp "$models"/squares.prototxt "$models"/squares.caffemodel "$models"/squares.in0.0.npy .
name='net $x#1'
mkdir "$name"
"$arenac" compile -q squares.prototxt squares.caffemodel --const 0=squares.in0.0.npy -o "$name/s.c" --depfile s.d ||
    fail "compile"
for f in squares.prototxt squares.caffemodel squares.in0.0.npy; do
    grep -q "^  $f" s.d || { cat s.d; fail "$f is not in the rule"; }
done
if have make make; then
    printf 'all: net\\ $$x\\#1/s.c\n\ninclude s.d\nnet\\ $$x\\#1/s.c:\n\t@echo again\n' >Makefile
    touch -d '2 hours ago' squares.*
    touch -d '1 hour ago' "$name"/*
    ! make | grep -q again || fail "make builds what is new"
    for f in squares.prototxt squares.caffemodel squares.in0.0.npy; do
        touch $f
        make | grep -q again || fail "make does not build again for $f"
        touch -d '2 hours ago' $f
    done
fi
"$arenac" compile -q "$m" "$models/branch_int8.tflite" --share exclusive -o two --depfile two.d || fail "two models"
grep -q branch_int8.tflite two.d && grep -q digits_int8.tflite two.d ||
    { cat two.d; fail "the rule of two models"; }
"$arenac" compile -q - -o p.c --depfile p.d <"$m" && [ "$(cat p.d)" = 'p.c:' ] || fail "standard input in a rule"

if have cc gcc; then
    expect 0 '' "$arenac" python "$m" -o new/folder
    [ -s new/folder/digits_int8.py ] || fail "python does not make its folder"
    echo >plain
    expect 3 'cannot create the folder: ' "$arenac" python "$m" -o plain/folder
fi
# a mistake empties no file
echo kept >shown.txt
expect 2 'available: ag, loops, dot' "$arenac" show "$models/digits_int8.tflite" --emit svg -o shown.txt
expect 2 "no step is named 'nosuch'" "$arenac" show "$models/digits_int8.tflite" --loops nosuch -o shown.txt
[ "$(cat shown.txt)" = kept ] || fail "show wrote over a file and had nothing to say"
exit $bad
