#!/bin/sh
# Texts as codes: of the generated C, in C99 and C++, with gcc and clang; of `arenac run`, on this machine and on the
# emulated GPU; of the Python module. Known texts, unknown ones, an empty one, bytes that are not UTF-8, 10,000 words.
# usage: texts.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
compilers
PYTHONPATH=$src/tests/golden:$models
export PYTHONPATH
python3 "$src/tests/cli/texts/texts_model.py" 10000 >many.onnx
python3 "$src/tests/cli/texts/texts_model.py" 0 >few.onnx
flags="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
for m in few many; do
    "$arenac" compile -q $m.onnx --name m --weights rodata -o m.c
    for c in $cc; do
        # shellcheck disable=SC2086
        $c -std=c99 $flags -Wstrict-prototypes -O1 "$src/tests/cli/texts/texts_main.c" m.c -I. -o main
        ./main $m || die "$m, compiled by $c"
        # shellcheck disable=SC2086
        $c -std=c99 $flags -O1 -c m.c -o m.o
    done
    if have g++ g++; then
        # shellcheck disable=SC2086
        g++ $flags -O1 -x c++ "$src/tests/cli/texts/texts_main.c" -x none m.o -I. -o main
        ./main $m || die "$m in C++"
    fi
done
"$arenac" show --json few.onnx >show.json
grep -q '"texts": "any"' show.json || die "show --json has no texts"
note="codes of 9 texts stand for the texts in 'color', 'label', 'name'"
"$arenac" plan few.onnx | grep -q "$note" || die "plan has no note"
"$arenac" show few.onnx --emit ag -o few.ag
"$arenac" compile -q few.ag --name m --weights rodata -o again.c
"$arenac" compile -q few.onnx --name m --weights rodata -o m.c
sed -n '/M_TEXTS/,$p' m.h >texts.h
sed -n '/M_TEXTS/,$p' again.h | cmp - texts.h || die "the text form loses texts"
"$arenac" compile -q few.onnx --name m --emit cu,h -t cuda-sm80 -o m.cu
sed -n '/M_TEXTS/,$p' m.h | cmp - texts.h || die "the header for GPUs has other texts"
have_numpy || exit 77
"$py" "$src/tests/cli/texts/texts_check.py" "$arenac" few.onnx many.onnx
case $arenac in *asan*) ;; *)
    "$arenac" python -q few.onnx --name texts -o .
    "$py" "$src/tests/cli/texts/texts_check.py"
    ;;
esac
