#!/bin/sh
# The time of a run: decoded instructions do what QEMU's do; QEMU's count of a model lies in the range that is stated;
# headers, reports and JSON agree; files that are not whole programs are errors. usage: time.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models/digits_int8.tflite cases=$src/tests/cli/code/time_cases.py
require python3 python3
none=1

# every instruction on several operands, in QEMU, and again in the walk, which compares
instructions() { # ISA TARGET LINK RUN ASSEMBLE...
    isa=$1 target=$2 link=$3 run=$4
    shift 4
    python3 "$cases" "$isa" run >run.s && "$@" run.s -o run.o && $link run.o -o run.elf && $run ./run.elf >results ||
        die "$isa: no results"
    [ "$(wc -c <results)" -gt 5000 ] || fail "$isa: few results"
    python3 "$cases" "$isa" check results >check.s && "$@" check.s -o check.o && $link -e t_run check.o -o check.elf ||
        die "$isa: no program"
    expect 0 'for every input' "$arenac" prove "$m" -t "$target" --name t --time --time-program check.elf
    grep -q 'yes: no branch' out.txt || fail "$isa: constants are taken for data"
    printf '\377' | dd of=results bs=1 seek=1224 conv=notrunc 2>/dev/null # one result is wrong
    printf '\001' | dd of=results bs=1 seek=2448 conv=notrunc 2>/dev/null
    python3 "$cases" "$isa" check results >check.s && "$@" check.s -o check.o && $link -e t_run check.o -o check.elf
    expect 8 'E0704' "$arenac" prove "$m" -t "$target" --name t --time --time-program check.elf
}
if have arm-none-eabi-as binutils-arm-none-eabi qemu-arm qemu-user; then
    none=0
    instructions arm cortex-m4 arm-none-eabi-ld "qemu-arm -cpu max" arm-none-eabi-as
fi
if have riscv64-unknown-elf-as binutils-riscv64-unknown-elf qemu-riscv32 qemu-user; then
    none=0
    instructions riscv rv32imac "riscv64-unknown-elf-ld -melf32lriscv" "qemu-riscv32 -cpu rv32,zba=true,zbb=true" \
        riscv64-unknown-elf-as -march=rv32imac_zba_zbb -mabi=ilp32
fi

# the range has QEMU's count, which is at most NEAR thousandths below its end
number() { # KEY: of the first that out.txt has
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" out.txt | head -1
}
in_range() { # TARGET NEAR OPTION...
    t=$1 near=$2
    shift 2
    expect 0 '"instructions"' "$arenac" bench "$m" -t "$t" --json "$@"
    counted=$(number instructions)
    expect 0 'arenac-time/1' "$arenac" prove "$m" -t "$t" --time --json "$@"
    least=$(number insns_min) most=$(number insns)
    # QEMU counts in ticks, and the calls around the run
    [ "$counted" -ge $((least - 100)) ] && [ $((counted - 100)) -le "$most" ] &&
        [ $(((most - counted) * 1000)) -le $((counted * near)) ] ||
        fail "$t: QEMU counts $counted instructions, which is not in $least to $most"
}
if have_arm; then
    none=0
    in_range cortex-m4 1
    in_range cortex-m3 1
    in_range cortex-m33 1
    in_range cortex-m0plus 20 # clamps are branches, and a division is a call
    ! have_llvm || in_range cortex-m4 1 --backend llvm
    expect 0 'Time instructions' "$arenac" compile "$m" -t cortex-m4 --time --wait-states 2 --name d -o d.c
    insns=$(sed -n 's/^#define D_INSNS \([0-9]*\)u .*/\1/p' d.h)
    expect 0 "\"insns\": $insns" "$arenac" prove "$m" -t cortex-m4 --time --name d --json
    grep -q '^#define D_CYCLES_MAX [0-9]*u .*flash: 2' d.h || fail "no cycles in the header"
    expect 0 'code of arm-none-eabi-gcc -Os' "$arenac" prove "$m" -t cortex-m4 --time --time-cc "arm-none-eabi-gcc -Os"
    # steps add up to the run, less the beginning of NAME_run
    "$arenac" prove "$m" -t cortex-m4 --time --json >steps.json && python3 - <<'END' || fail "steps"
import json
t = json.load(open("steps.json"))
steps = t["steps"]
assert [s["step"] for s in steps] == list(range(len(steps))) and len(steps) > 4, steps
for key in "insns", "cycles":
    assert 0 <= t[key] - sum(s[key] for s in steps) < 60 and all(s[key] > 0 for s in steps), (key, steps)
END
    # pools round without a branch or a division that depends on data, at every level, as the reference does
    pools=$src/tests/cross/pools.ag
    "$arenac" run -q "$pools" -t generic --backend eval --random 3 --output-dir plain
    for t in cortex-m0plus cortex-m3 cortex-m4 cortex-m33; do
        for o in -O2 -Os; do
            expect 0 'yes: no branch, address or division' "$arenac" prove "$pools" -t $t --time \
                --time-cc "arm-none-eabi-gcc $o"
        done
        "$arenac" run -q "$pools" -t $t --backend eval --random 3 --output-dir rounded
        cmp plain/0.npy rounded/0.npy && cmp plain/1.npy rounded/1.npy || fail "pools for $t"
    done
    expect 3 'cannot run the compiler' "$arenac" prove "$m" -t cortex-m4 --time --time-cc no-such-gcc
    expect 8 'microcontroller' "$arenac" prove "$m" --time
    # a program of the user, whole and cut
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os --specs=nosys.specs \
        -Wl,-e,d_run -nostartfiles d.c -o d.elf
    expect 0 'code of d.elf' "$arenac" prove "$m" -t cortex-m4 --time --name d --time-program d.elf
    expect 1 "no function 'e_run'" "$arenac" prove "$m" -t cortex-m4 --time --name e --time-program d.elf
    expect 3 'cannot read' "$arenac" prove "$m" -t cortex-m4 --time --name d --time-program no.elf
    expect 8 'linked program' "$arenac" prove "$m" -t cortex-m4 --time --name d --time-program check.o
    for n in 0 10 60 1000; do
        head -c $n d.elf >cut.elf
        expect 1 'E00' "$arenac" prove "$m" -t cortex-m4 --time --name d --time-program cut.elf
    done
    expect 2 'contradict' "$arenac" prove "$m" -t cortex-m4 --time --time-cc gcc --time-program d.elf
fi
if have_rv32; then
    none=0
    in_range rv32imac 30
    expect 0 'yes: no branch, address or division' "$arenac" prove "$src/tests/cross/pools.ag" -t rv32imac --time
fi
[ $none = 0 ] || exit 77
exit $bad
