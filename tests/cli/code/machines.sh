#!/bin/sh
# Generated C of the models here, and of ten public ones if available, checks itself (--emit selftest) on machines
# unlike this one: big-endian (s390x) and 32-bit (i386), under valgrind, and with two and three threads under
# ThreadSanitizer. Skips parts whose tools are missing, and reports them. usage: machines.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
case $arenac in *asan*) echo "skipped: the release tool makes the same C"; exit 77 ;; esac
public="kws_dscnn_int8 ic_resnet8_int8 person_detect_int8 hello_world_int8 micro_speech_int8 gru2_unrolled_f32 \
    seanet_conv0 seanet_transpose_conv4 resnet8_int16x8 mobilenet_v1_025_96_int8"
list=$(ls "$models"/*.tflite "$models"/*.ag)
if have_shared models; then
    for m in $public; do
        list="$list $(ls "$shared/models/tflite/$m"/*.tflite 2>/dev/null)"
    done
fi
flags="-std=c99 -ffp-contract=off -g -Wall -Wextra -Werror -DM_SELFTEST_MAIN"
ran=0

# checks OPTIONS CC RUN: every model compiled by CC, and run by RUN
checks() {
    options=$1 cc=$2 run=$3
    for m in $list; do
        # shellcheck disable=SC2086
        "$arenac" compile -q "$m" --name m --emit c,h,selftest --weights rodata --random 3 $options -o m.c &&
            $cc $flags m.c m.selftest.c $more -lm -o m && $run ./m >out.txt 2>&1 ||
            { cat out.txt; fail "$m $options, $cc, $run"; }
        ran=$((ran + 1))
    done
}
more=
# gcc for s390x has floats in double by default, for i386 in x87's registers
if have s390x-linux-gnu-gcc gcc-s390x-linux-gnu qemu-s390x qemu-user && links s390x-linux-gnu-gcc -static; then
    checks --poison "s390x-linux-gnu-gcc -static -O1 -fexcess-precision=fast" qemu-s390x
fi
if have i686-linux-gnu-gcc gcc-i686-linux-gnu qemu-i386 qemu-user && links i686-linux-gnu-gcc -static; then
    checks --poison "i686-linux-gnu-gcc -static -O1 -msse2 -mfpmath=sse" qemu-i386
fi
! have valgrind valgrind || checks "" "${CC:-cc} -O1" "valgrind -q --error-exitcode=9"

# Threads: the program's memory with a pool (pool_main.c).
builds() { # FLAGS...: does a program with them run here?
    printf 'int main(void) { return 0; }\n' >t.c && ${CC:-cc} "$@" t.c -o t 2>/dev/null && $quiet ./t 2>/dev/null
}
quiet=
if builds -fsanitize=thread || { quiet="setarch -R" && builds -fsanitize=thread; }; then
    flags="-std=gnu11 -ffp-contract=off -g -fsanitize=thread -pthread -I. -I$src/runtime"
    more="$src/tests/cli/code/pool_main.c $src/runtime/arn_pool.c"
    for n in 2 3; do checks "--threads $n" "${CC:-cc} -O1" "$quiet"; done
else
    echo "skipped: ThreadSanitizer does not work here"
fi
[ $ran -gt 0 ] || exit 77
echo "$ran runs"
