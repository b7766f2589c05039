#!/bin/sh
# mutants.sh - tests the tests: plants each fault of mutants.txt into a copy of the sources, builds it, and runs suites
# until one fails. A fault that none finds is a test that is missing; one that does not apply or build is a row to mend.
#     values    the models here, as C and by the evaluator, against their stored outputs
#     proofs    arenac prove of the models, plain and with overlap, stripes and shared kernels
#     goldens   every example
#     units     C programs of the folder's tests: they take the longest to link
# Prints a row for each fault: what found it, the file, what is wrong. Exit status 1 when one was not found.
# usage: mutants.sh [-j JOBS] [-b BUILD: build-mutants] [PATTERN: of rows]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build-mutants jobs=$(nproc)
while getopts j:b: option; do
    case $option in j) jobs=$OPTARG ;; b) build=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
pattern=${1:-.}
mkdir -p "$build/source"
# files that git knows, or could: no build folders
(cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 cp -p --parents -t "$build/source" 2>/dev/null) || :
cd "$build"
cmake -S source -B out -DBUILD_TESTING=ON ${CMAKE_ARGS:-} >log 2>&1 && cmake --build out -j "$jobs" >>log 2>&1 || {
    tail -20 log
    exit 1
}
arenac=$build/out/arenac models=$build/source/models

tool() { # what does not end is found, too
    timeout 120 "$arenac" "$@"
}

values() {
    for m in "$models"/*.tflite; do
        name=$(basename "$m" .tflite)
        for k in 0 1; do
            x=$models/$name.in0.$k.npy y=$models/$name.out0.$k.npy
            [ -e "$x" ] && [ -e "$y" ] || continue
            tool run -q "$m" --backend eval -t generic --input 0="$x" --compare 0="$y" || return 1
            tool run -q "$m" --backend eval -t cortex-m4 --stripe auto --input 0="$x" --compare 0="$y" || return 1
        done
        tool run -q "$m" --random 1 --threads 2 --poison --per-node >/dev/null || return 1
    done
}

proofs() {
    for m in digits_int8 branch_int8 dsnet_int8 dsnet_f32; do
        for o in '' '--overlap on' '--share-kernels' '--threads 3'; do
            # shellcheck disable=SC2086
            tool prove -q "$models/$m.tflite" $o || return 1
        done
    done
}

units() { # FILE: those of its folder; emitters take minutes on a machine that is busy
    case $1 in
    ir/lower/*) folder=lower ;; ir/loop/*) folder=loop ;; ir/pass/*) folder=pass ;; ir/*) folder=graph ;;
    planner/*) folder=planner ;; codegen/*) folder=codegen ;; import/*) folder=import ;; prove/*) folder=prove ;;
    *) folder=base ;;
    esac
    for t in source/tests/unit/$folder/test_*.c; do
        t=$(basename "$t" .c)
        [ -x "out/tests/$t" ] || continue
        cmake --build out -j "$jobs" --target "$t" >>log 2>&1 || return 1
        (cd out/tests && timeout 1800 "./$t") || return 1
    done
}

goldens() { # FILE: the area that is nearest to it, then all
    case $1 in ir/lower/*) area=ops ;; planner/*) area=plan ;; codegen/*) area=c ;; *) area=passes ;; esac
    timeout 900 python3 source/tests/golden/run.py "$arenac" $area &&
        timeout 900 python3 source/tests/golden/run.py "$arenac"
}

# plant FILE, by the commands in the file `faults`; finds it, and puts the file back
plant() {
    cp -p "source/$1" kept
    sed -f faults kept >"source/$1"
    found='NOT FOUND'
    if cmp -s kept "source/$1"; then
        found='CHANGES NOTHING'
    elif ! cmake --build out -j "$jobs" --target arenac >log 2>&1; then
        found='DOES NOT BUILD'
    else
        for suite in values proofs "goldens $1" "units $1"; do
            # shellcheck disable=SC2086
            if ! $suite >suite.log 2>&1 </dev/null; then
                found=${suite%% *}
                break
            fi
        done
    fi
    cp kept "source/$1"
    printf '%-16s %-34s %s\n' "$found" "$1" "$2"
    case $found in *\ *) echo "$2" >>missing ;; esac
    n=$((n + 1))
}

n=0 file='' what=''
: >faults
: >missing
{ grep -v '^#' "$root/scripts/mutants.txt" | grep . && echo 'end:'; } >rows
while IFS= read -r line <&3; do
    case $line in
    ' '*) echo "${line#    }" >>faults ;;
    *)
        if [ -n "$file" ] && echo "$file: $what" | grep -q -e "$pattern"; then plant "$file" "$what"; fi
        file=${line%%: *} what=${line#*: }
        : >faults
        ;;
    esac
done 3<rows
echo "$n faults planted, $(wc -l <missing) not found"
[ ! -s missing ]
