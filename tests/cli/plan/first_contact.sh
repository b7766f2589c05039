#!/bin/sh
# First contact: words of other tools get an answer, a name that is almost right gets the right one, pictures become
# files, and a folder is not a file. usage: first_contact.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cp "$models/digits_int8.tflite" kws.tflite
for word in $(sed -n 's/^WORD("\([^-"]*\)".*/\1/p' "$src/cli/words.def"); do
    expect 2 "unknown verb '$word'; try: " "$arenac" "$word" kws.tflite
done
for word in $(sed -n 's/^WORD("\(--[^"]*\)".*/\1/p' "$src/cli/words.def"); do
    expect 2 "unknown option '$word'; try: " "$arenac" plan kws.tflite "$word"
    expect 2 "unknown option '$word'; try: " "$arenac" plan kws.tflite "$word=1"
done
cp kws.tflite analyze
expect 0 "CONV_2D" "$arenac" show analyze
expect 0 "arena" "$arenac" analyze # a file of that name is a model
rm analyze
expect 0 "$("$arenac" --version)" "$arenac" version
expect 0 "$("$arenac" --version)" "$arenac" -V
# names of files
expect 3 "did you mean 'kws.tflite'?" "$arenac" plan kws.tflit
mkdir -p nets && cp kws.tflite nets/seen.tflite
expect 3 "did you mean 'nets/seen.tflite'?" "$arenac" plan nets/sen.tflite
expect 3 "cannot read" "$arenac" plan nowhere/kws.tflite
expect 3 "did you mean 'kws.tflite'?" "$arenac" run kws.tflite --input 0=kws.tflit
expect 1 "this is a model" "$arenac" verify kws.tflite
# sizes, tensors and memories
for size in 64k 64K 64kb 64KiB 65536; do
    expect 0 "of 64.0 KiB" "$arenac" plan kws.tflite --budget $size
done
expect 2 "there is 'image'" "$arenac" plan kws.tflite --outputs nothing_of_this
expect 2 "there is 'arena'" "$arenac" plan kws.tflite --budget tcm=4K
# pictures are files; what goes to standard output is one document
for kind in html svg; do
    rm -f kws.$kind
    expect 0 "kws.$kind" "$arenac" plan kws.tflite --emit $kind
    [ -s kws.$kind ] || fail "--emit $kind wrote no file"
    "$arenac" plan kws.tflite --emit $kind -o - | cmp -s - kws.$kind || fail "-o - of $kind is another text"
    "$arenac" plan kws.tflite --emit $kind --json -o again.$kind >report.json || fail "--json with --emit $kind"
    cmp -s again.$kind kws.$kind || fail "--json changes $kind"
    grep -q '"arena_bytes"' report.json || fail "--emit $kind loses --json"
done
expect 2 "json does not go with --emit csv without -o" "$arenac" plan kws.tflite --json --emit csv
# a kind that is not available leaves the others
expect 8 "a plan in CSV form has one memory" "$arenac" plan kws.tflite \
    --emit csv,html,lock --mem a:1K,fast --mem b:64K -o two
[ -s two.html ] && [ -s two.lock ] && [ ! -e two.csv ] || fail "csv stops the other kinds"
# a folder is not a file
for verb in plan compile; do
    expect 2 "o \./ writes files in it" "$arenac" $verb kws.tflite -o .
    expect 2 "o nets/ writes files in it" "$arenac" $verb kws.tflite -o nets --emit json
done
expect 0 "" "$arenac" compile kws.tflite -o nets # the stem of two files
[ -s nets.c ] && [ -s nets.h ] || fail "a folder of that name stops a stem"
[ -z "$(find . -name '..*' -type f)" ] || fail "-o . left files"
# colours are for terminals, or if asked for
escape=$(printf '\033')
for place in "1mkws.tflite" "1mThe peak" "32moptimal"; do
    "$arenac" plan kws.tflite --color always | grep -qF "$escape[$place" || fail "no colour: $place"
done
"$arenac" plan kws.tflite --color always --budget 900 2>err.txt | grep -qF "$escape[1;31m" ||
    fail "over budget is not red"
"$arenac" plan kws.tflite | grep -qF "$escape" && fail "colours in a pipe"
"$arenac" plan kws.tflite --color always --emit md -o - | grep -qF "$escape" && fail "colours in a file"
true
