#!/bin/sh
# compile --selftest-cc: every step by a compiler that the user names, against the evaluator: here, under qemu-user and
# on boards; a compiler that miscompiles one expression is found, at the step where it does, and nothing is written.
# usage: selftest_cc.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require gcc gcc
digits=$models/digits_int8.tflite
equal() { # TEXT MODEL COMMAND OPTION...
    text=$1 model=$2 cc=$3
    shift 3
    expect 0 "Self-test of '$cc' on .*$text" "$arenac" compile "$model" --name net -o net.c --selftest-cc "$cc" "$@"
}
equal 'this machine: 7 steps.* 7 of integers, each with 30 sets .* both ends of 5 of 5 clamps' "$digits" 'gcc -O3' \
    --vectors 30
equal '14 steps equal the reference interpreter\.$' "$models/dsnet_f32.tflite" 'gcc -O2'
equal '12 of integers' "$models/branch_int8.tflite" 'gcc -O1' --vectors 20 --stripe auto --overlap on
equal 'this machine' "$digits" 'gcc -O2' --vectors 10 --weights blob --threads 4
equal 'this machine' "$digits" 'gcc -O2' --vectors 10 --weights asm --mem fast:1K,fast --mem slow:8K
equal 'this machine' "$src/tests/golden/c/state.ag" 'gcc -O0'
equal 'this machine' "$models/dsnet_int8.tflite" 'gcc -O2' -t cortex-m4 --stripe auto --io rows --vectors 10
# parts, and steps that run at once
cat >branches.ag <<'END'
graph g {
  input x: i8[1,24,24,16] q(0.1, 3)
  const v: i8[24,3,3,16] q(0.02, 0) = random 1
  const w: i8[24,1,1,16] q(0.02, 0) = random 2
  a: i8[1,24,24,24] q(0.3, -2) = conv_2d(x, v) padding=same
  b: i8[1,24,24,24] q(0.3, -2) = conv_2d(x, w)
  c: i8[1,24,24,16] q(0.0078125, 0) = tanh(x)
  d: i8[1,24,24,16] q(0.00390625, -128) = logistic(x)
  e: i8[1,24,24,16] q(0.01, 0) = mul(c, d)
  y: i8[1,24,24,64] q(0.3, -2) = concatenation(a, b, e) axis=3
  output y
}
END
"$arenac" plan branches.ag -t native --threads 2 --budget 1M | grep -q 'steps that run at once' ||
    fail 'branches.ag has no steps that run at once'
equal '4 of integers' branches.ag 'gcc -O2' -t native --threads 2 --budget 1M --vectors 10
# gcc 12 -O2 dropped the calls of the second step: its stores, at twice the distance of its loads, had no pointer
cat >twice.ag <<'END'
graph g {
  input x: i8[1,25,22,16] q(0.05, -5)
  a: i8[1,25,22,16] q(0.05, -5) = average_pool_2d(x) kernel_h=3 kernel_w=2 padding=same
  y: i8[1,25,22,32] q(0.05, -5) = concatenation(a, a) axis=3
  output y
}
END
equal '2 of integers' twice.ag 'gcc -O2' -t generic --threads 2 --vectors 3
have clang clang && equal 'this machine' "$digits" 'clang -O2' --vectors 10
# indices: those that are out of range for the evaluator become 0
cat >gather.ag <<'END'
graph g {
  input table: i8[9,4]
  input index: i32[5]
  y = gather(table, index)
  output y
}
END
equal '1 of integers' gather.ag 'gcc -O2' --vectors 40

# a compiler that changes one expression of the model's C
cat >planted <<'END'
#!/bin/sh
for word; do case $word in -I*) dir=${word#-I} ;; */model.c) model=$word ;; esac; done
if [ "${model-}" ]; then
    sed "$FAULT" "$dir/m.c" >changed.c
    cmp -s changed.c "$dir/m.c" && echo 'nothing was changed' >&2 && exit 1
    cp changed.c "$dir/m.c"
fi
exec gcc "$@"
END
chmod +x planted
planted() { # TEXT SED
    rm -f net.c net.h
    export FAULT="$2"
    # shellcheck disable=SC2086
    expect 5 "$1" "$arenac" compile "$digits" --name net -o net.c --selftest-cc './planted -O1' \
        --vectors "${sets:-20}" ${options-}
    [ ! -e net.c ] && [ ! -e net.h ] || fail "$2: something was written"
}
in_step() { # STEP FUNCTION SED
    planted "step $1 .*the code of './planted -O1' differs" "/static void net_$2(/,/^}/ $3"
}
in_step '0 CONV_2D' conv_2d_0 's/< 127 ? t[0-9]* : 127/< 126 ? 126 : 126/'
in_step '0 CONV_2D' conv_2d_0 's/+ 1073741824);/+ 0);/'
in_step '1 MAX_POOL_2D' max_pool_2d_1 's/int8_t acc = -128/int8_t acc = -127/'
in_step '2 CONV_2D' conv_2d_2 's/oy + ky - 1/oy + ky - (oy == 3 \&\& ky == 0 ? 2 : 1)/'
in_step '4 FULLY_CONNECTED' fully_connected_5 's/> -128 ?/> -127 ?/'
in_step '6 SOFTMAX' softmax_7 's/ > max ? / > (int8_t)(max + 1) ? /'
planted 'stops, but' 's/return NET_OK;/return NET_EINDEX;/'
planted 'ends with a fault' 's/NET_STEP_BEGIN(3);/__builtin_trap();/'
# Faults of memory in the function that runs the steps: each is found, and most are named.
sets=1
before() { # TEXT STEP CODE: code before the end of a step
    planted "$1" "s/    NET_STEP_END($2);/    $3&/"
}
before "step 3 .*writes at offset 960 of memory 'arena', which has 960" 3 'arena[NET_ARENA_BYTES] = 1;'
before "step 3 .*writes at offset 999 of memory 'arena'" 3 'arena[NET_ARENA_BYTES + 39] ^= 1;'
before "step 0 .*writes before the start of memory 'arena'" 0 'arena[-1] = 1;'
before "step 5 .*changes memory 'arena' between 0x384 and 0x3c0" 5 'arena[900] ^= 1;'
before "step 2 .*changes memory 'arena' between 0x[0-9a-f]* and 0x300, which is not its result" 2 'arena[0x180] ^= 1;'
before "step 1 .*changes memory 'arena' between 0x0 and 0x300" 1 'arena[7] ^= 1;' # its operand
planted "step 3 .*changes memory 'arena'" '/static void net_max_pool_2d_3(/,/^}/ s/oy < 2/oy < 3/' # wrong size
planted 'step 3 .*differs' '/static void net_max_pool_2d_3(/,/^}/ s/oy < 2/oy < 1/'
planted 'step 4 .*differs' '/static void net_fully_connected_5(/,/^}/ s/x\[ic\]/x[ic + 1]/' # one past the operand
planted 'step 5 .*differs' '/NET_STEP_BEGIN(5)/,/END/ s/arena + 0x0000/arena + 0x0180/' # a dead tensor
planted 'step 1 ' '/NET_STEP_BEGIN(1)/,/END/ { s/0x0000/0xffff/; s/0x0300/0x0000/; s/0xffff/0x0300/; }' # swapped
planted 'step 2 .*differs' '/NET_STEP_BEGIN(2)/,/END/ s/net_conv_2d_2_k,/net_conv_2d_2_m,/' # the wrong tensor
planted 'step 3 .*differs' '/NET_STEP_BEGIN(3)/,/END/ s/ net_max_pool_2d_3(.*;//' # not called
planted 'step 4 .*out of order, expected step 3' '/NET_STEP_BEGIN(3)/,/END/ d' # not there
planted 'after the last step.*expected step 6' '/NET_STEP_BEGIN(6)/,/END/ d'
planted 'step 3 .*out of order, expected step 2' '/NET_STEP_BEGIN(2)/,/END/ { H; d; }; /NET_STEP_END(3)/ G'
planted 'with a fault' 's/    NET_STEP_END(2);/    ((int8_t *)net_conv_2d_2_k_1)[5] ^= 1;&/' # weights
planted 'step 6 .*differs' '/static void net_softmax_7(/,/^}/ s/^{/{ static int n; out[0] = (int8_t)n++;/' # state
planted "accepts memory 'arena' at an address" 's/(uintptr_t)m->arena % NET_ARENA_ALIGN != 0/0/'
options='--weights blob'
planted "accepts memory 'weights' at an address" 's/(uintptr_t)m->weights % 64u != 0/0/'
options='--mem fast:1K,fast --mem slow:8K'
before "step 3 .*writes before the start of memory 'slow'" 3 '((uint8_t *)m->slow)[-3] ^= 1;'
before "step 3 .*writes at offset 962 of memory 'fast'" 3 '((uint8_t *)m->fast)[NET_FAST_BYTES + 2] ^= 1;'
options=--preserve=input # an input that no later step reads
before "step 4 .*changes memory 'arena' between" 4 'net_in0(m)[3] ^= 1;'
options='--align 4' # the arena is aligned to 4, which an access of 16 bytes may not exceed
[ "$(uname -m)" != x86_64 ] || planted 'with a fault' \
    '/static void net_max_pool_2d_1(/ s/^/typedef int four __attribute__((vector_size(16)));\n/
     /static void net_max_pool_2d_1(/,/^}/ s/^{/{ *(volatile four *)out = (four){0};/'
sets=20 options=
# Registers that a program has to request.
cat >rows.ag <<'M'
graph rows {
  input x: i8[1,12,11,16] q(0.05, -5)
  const w: i8[21,1,1,16] q(0.02, 0) = random 1 (-127, 127)
  const b: i32[21] = random 2 (-900, 900)
  y: i8[1,12,11,21] q(0.28, 3) = conv_2d(x, w, b) padding=same
  output y
}
M
if grep -q amx_int8 /proc/cpuinfo 2>/dev/null; then
    equal '1 of integers' rows.ag 'gcc -O2' -t x86-64-v4-amx --vectors 20
    "$arenac" compile rows.ag -q -t x86-64-v4-amx --emit c,h,selftest -o rows.c || fail "a program of AMX with its test"
    grep -q REQUEST_AMX rows.selftest.c || fail "the program does not request the registers"
    gcc -std=c99 -DROWS_SELFTEST_MAIN rows.c rows.selftest.c -o rows && ./rows >said.txt || fail "$(cat said.txt)"
    rm -f net.c net.h
else
    echo "skipped: this processor has no AMX"
fi

# errors of the command
expect 3 "cannot run the compiler './no-such-cc'" "$arenac" compile "$digits" -o net.c --selftest-cc './no-such-cc -O2'
expect 3 "'gcc' failed with status 1" "$arenac" compile "$digits" -o net.c --selftest-cc 'gcc -no-such-option'
expect 2 'is empty' "$arenac" compile "$digits" -o net.c --selftest-cc ' '
expect 8 'does not go with --host' "$arenac" compile "$digits" -o net.c --selftest-cc gcc --host
[ ! -e net.c ] || fail "something was written"

foreign() { # GCC PACKAGE QEMU
    have "$1" "$2" "$3" qemu-user || return
    links "$1" -static || { missing "the C library of $1" "libc6-dev-${2#gcc-}-cross"; return; }
    equal "$3: " "$digits" "$1 -O2" --vectors 20
}
foreign aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu qemu-aarch64
foreign riscv64-linux-gnu-gcc gcc-riscv64-linux-gnu qemu-riscv64
foreign s390x-linux-gnu-gcc gcc-s390x-linux-gnu qemu-s390x
! links gcc -m32 || equal 'this machine' "$digits" 'gcc -m32 -O2' --vectors 20
if have_arm; then
    equal "QEMU's mps2-an386" "$digits" 'arm-none-eabi-gcc -O3' -t cortex-m4 --vectors 20
    equal "QEMU's mps2-an385" "$digits" 'arm-none-eabi-gcc -Os -mthumb -mcpu=cortex-m3' --vectors 20
    equal "QEMU's mps2-an386" "$digits" 'arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os' -t cortex-m4 --vectors 10
    equal "QEMU's mps2-an386" "$digits" \
        'arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=softfp -mfpu=fpv4-sp-d16 -O2' -t cortex-m4 --vectors 10
    # failures for other reasons do not suggest a package
    expect 3 'failed with status' "$arenac" compile "$digits" -t cortex-m4 -o net.c \
        --selftest-cc 'arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=nosuch'
    ! grep -q 'apt install' err.txt || fail "a package that is installed is to be installed"
    expect 8 'no board runs' "$arenac" compile "$digits" -o net.c --selftest-cc 'arm-none-eabi-gcc -mcpu=cortex-a5'
fi
! have_rv32 || equal "QEMU's virt" "$digits" 'riscv64-unknown-elf-gcc -O2' -t rv32imac --vectors 20
exit $bad
