#!/bin/sh
# bench of firmware targets: counts in QEMU equal those of another harness (../shared); messages name the packages of
# missing tools. usage: bench_boards.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models/digits_int8.tflite

# without the tools
mkdir none
expect 3 'needs arm-none-eabi-gcc' env PATH="$tmp/none" "$arenac" bench -t cortex-m4 "$m"
expect 3 'needs qemu-system-arm' env PATH="$tmp/none" "$arenac" bench -t cortex-m4 "$m"
expect 3 'apt install gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc' \
    env PATH="$tmp/none" "$arenac" bench -t rv32imac "$m"
expect 2 'tune measures on this machine' "$arenac" bench -t cortex-m4 --tune "$m"
expect 8 'expected c or llvm' "$arenac" bench -t cortex-m4 --backend eval "$m"

field() { # NAME: of the last line
    tail -n 1 out.txt | tr ' ' '\n' | sed -n "s/^$1=//p"
}
counts() { # TARGET OPTION...
    t=$1
    shift
    expect 0 "on $t, QEMU" "$arenac" bench -t "$t" "$m" "$@"
    for figure in instructions stack arena code constants; do
        [ "$(field $figure)" -gt 0 ] || fail "$t: no $figure"
    done
    mine=$(field instructions)
    expect 0 "\"instructions\": $mine," "$arenac" bench -t "$t" "$m" "$@" --json
}
sum_is_near() { # the steps add up to the whole, but for the calls of run
    "$arenac" bench -t cortex-m4 "$m" --json | awk '
        /"instructions":/ { gsub(/[^0-9]/, ""); if (whole) sum += $0; else whole = $0 }
        END { if (sum < 0.97 * whole || sum > 1.03 * whole) { print sum, whole; exit 1 } }'
}
none=1
if have_arm; then
    none=0
    counts cortex-m4
    expect 0 "instructions  *share" "$arenac" bench -t cortex-m4 "$m" --per-op
    sum_is_near || fail "steps and the whole disagree"
    counts cortex-m0plus --stripe auto
    cat >large.ag <<'M'
graph large {
  input x: i8[1,1100] q(0.05, 3)
  const w: i8[1000,1100] q(0.01, 0) = random 1 (-127, 127)
  y: i8[1,1000] q(0.5, 0) = fully_connected(x, w, _)
  output y
}
M
    echo "not the weights" >m.bin # which assemblers would find first
    expect 0 'outputs are the evaluator' "$arenac" bench -t cortex-m4 large.ag
    ! have_llvm || counts cortex-m55 --backend llvm
    for t in cortex-m0 cortex-m23 cortex-m52 cortex-m85 rp2350; do # code of other cores
        expect 0 'outputs are the evaluator' "$arenac" bench -t $t "$m"
    done
    expect 0 ' cycles=' "$arenac" bench -t cortex-m0 "$m"
    TMPDIR=$tmp "$arenac" bench -q -t cortex-m4 "$m" >/dev/null
    [ -z "$(ls -d "$tmp"/arenac-?????? 2>/dev/null)" ] || fail "a temporary folder is left"
fi
if have_rv32; then
    none=0
    counts rv32imac
    counts rv32imac-zba-zbb
    counts rv32imac-zve32x
    ! have_llvm || counts rv32imac-zve32x --backend llvm
    for t in rp2350-riscv esp32c3 esp32c6; do
        expect 0 'outputs are the evaluator' "$arenac" bench -t $t "$m"
    done
    expect 0 'outputs are the evaluator' "$arenac" bench -t esp32p4 "$models/dsnet_f32.tflite"
fi
[ $none = 0 ] || exit $bad

# the same counts as an independent harness: within 0.1 %
if have_arm && have python3 python3 && have_shared firmware/harness/fwrun.py; then
    in=$models/digits_int8.in0.0.npy out=$models/digits_int8.out0.0.npy
    "$arenac" compile -q -t cortex-m4 "$m" --name net -o net --emit c,h
    python3 "$src/tests/fw_main.py" net net.h "$in" "$out" >main.c
    theirs=$(python3 "$shared/firmware/harness/fwrun.py" --target cortex-m4 --src net.c --main main.c -O 2 \
        --cflags="-I$tmp" | sed -n 's/.*instructions \([0-9]*\).*/\1/p')
    expect 0 '' "$arenac" bench -t cortex-m4 "$m" --input "0=$in"
    ours=$(field instructions)
    [ $((theirs > ours ? theirs - ours : ours - theirs)) -le $((theirs / 1000)) ] || fail "we count $ours, they $theirs"
fi
exit $bad
