#!/bin/sh
# A model reads files of its own folder only, and regular ones: no link leads out, no pipe is waited for, no device is
# opened. usage: beside.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
mkdir model other
head -c 4096 /dev/zero >other/secret.bin
head -c 24 /dev/zero >model/inside.bin
mkdir model/part
cp model/inside.bin model/part/inside.bin
ln -s ../other/secret.bin model/link.bin
ln -s ../other model/folder
ln -s inside.bin model/alias.bin
mkfifo model/pipe.bin
mkdir model/directory.bin

# a name, the exit status, the message
cat >cases <<'C'
inside.bin 0
part/inside.bin 0
alias.bin 0
./inside.bin 0
link.bin 1 outside of the model's folder
folder/secret.bin 1 outside of the model's folder
../other/secret.bin 1 outside of the model's folder
/dev/zero 1 outside of the model's folder
pipe.bin 3 is no regular file
directory.bin 3 is no regular file
C
while read -r name status words; do
    printf 'graph g {\n  input x: i8[24]\n  const c: i8[24] = file "%s"\n  y: i8[24] = add(x, c)\n  output y\n}\n' \
        "$name" >model/t.ag
    expect "$status" "$words" timeout 20 "$arenac" check model/t.ag
    cat >t.py <<P
import sys
sys.path[:0] = ["$src/tests/golden", "$models"]
from onnx_bytes import *
write(model(graph([node("Add", ["x", "w"], ["y"])], weights=[external("w", [2, 3], location="$name")])))
P
    python3 t.py && mv t.onnx model/t.onnx || { fail "no ONNX file"; continue; }
    expect "$status" "$words" timeout 20 "$arenac" check model/t.onnx
done <cases

# the weights of a text, and a text on standard input: its folder is the current one
printf 'weights "pipe.bin" 256 "%064d"\ngraph g {\n  input x: i8[1]\n  output x\n}\n' 0 >model/w.ag
expect 3 'is no regular file' timeout 20 "$arenac" check model/w.ag
sed 's|file ".*"|file "model/inside.bin"|' model/t.ag >t.ag
# NumPy's files are not raw numbers: their header is not read as data
{ printf '\223NUMPY\001\000\066\000%054d' 0 && cat model/inside.bin; } >model/rows.npy
sed 's|file ".*"|file "rows.npy"|' model/t.ag >model/n.ag
expect 1 'E0010.*begins with a header, not with numbers' "$arenac" check model/n.ag
expect 1 'its numbers begin at byte 64: file "rows.npy" @64' "$arenac" check model/n.ag
sed 's|file ".*"|file "rows.npy" @64|' model/t.ag >model/n.ag
expect 0 '' "$arenac" check model/n.ag
said=out.txt
expect 0 '' sh -c "'$arenac' check -q - <t.ag"
exit $bad
