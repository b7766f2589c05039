#!/bin/sh
# mutants.sh - tests the tests: plants each fault of mutants.txt into a copy of the sources, builds it, and runs suites
# until one fails. A fault that none finds shows a missing test; the row of one that does not apply or build must be
# fixed.
#     values    the models here, as C and by the evaluator, against their stored outputs, also in two memories
#     proofs    arenac prove of the models, plain and with overlap, stripes and shared kernels
#     goldens   every example
#     units     C programs of the folder's tests, which take longest to link
# Prints a row for each fault: the suite that found it, the file, the fault. They are also stored in BUILD/table: -r
# continues an interrupted run without the rows in there. Exit status 1 if a fault was not found. usage: mutants.sh [-r]
# [-j JOBS] [-b BUILD: build-mutants] [PATTERN: of rows]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build-mutants jobs=$(nproc) again=
while getopts rj:b: option; do
    case $option in r) again=1 ;; j) jobs=$OPTARG ;; b) build=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
pattern=${1:-.}
mkdir -p "$build/source"
# Tracked files and those not ignored by git: no build folders. Changed files become newer than those of an earlier
# fault.
(cd "$root" && git ls-files -co --exclude-standard) | while IFS= read -r f; do
    ! [ -e "$root/$f" ] || cmp -s "$root/$f" "$build/source/$f" || {
        mkdir -p "$build/source/$(dirname "$f")"
        cp "$root/$f" "$build/source/$f"
    }
done
cd "$build"
# The file in which an interrupted run has planted one: it is whole again, but older than what was made of it.
[ ! -s planting ] || touch "source/$(cat planting)"
# Code that a fault leaves unused is a warning, not an error. With ccache objects are those of any other build, whose
# flags and relative paths are the same.
cat >compiler <<C
#!/bin/sh
[ -e "$build/planted" ] && set -- "\$@" -Wno-error
exec $(command -v ccache || :) "\$@"
C
chmod +x compiler
rm -f planted
out=source/build
cmake -S source -B $out -DBUILD_TESTING=ON -DARENAC_WERROR=ON -DCMAKE_C_COMPILER_LAUNCHER="$build/compiler" >log 2>&1 &&
    cmake --build $out -j "$jobs" --target arenac >>log 2>&1 || {
    tail -20 log
    exit 1
}
touch planted
arenac=$build/$out/arenac models=$build/source/models

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
    for m in branch_int8 dsnet_int8; do
        for backend in c eval; do
            tool run -q "$models/$m.tflite" --mem big:1M,slow --mem tcm:3K,fast --poison --backend $backend \
                --input 0="$models/$m.in0.0.npy" --compare 0="$models/$m.out0.0.npy" || return 1
        done
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
    ir/loop/* | ir/lower/node/*) folder=loop ;; ir/lower/*) folder=lower ;; ir/pass/*) folder=pass ;;
    ir/*) folder=graph ;;
    planner/*) folder=planner ;; codegen/*) folder=codegen ;; import/*) folder=import ;; prove/*) folder=prove ;;
    *) folder=base ;;
    esac
    for t in source/tests/unit/$folder/test_*.c; do
        t=$(basename "$t" .c)
        cmake --build $out -j "$jobs" --target "$t" >>log 2>&1 || return 1
        status=0
        (cd $out/tests && ulimit -t 120 && "./$t") || status=$?
        [ $status = 0 ] || [ $status = 152 ] || return 1 # those that take minutes of the processor are left: SIGXCPU
    done
}

goldens() { # [AREA]
    timeout 900 python3 source/tests/golden/run.py "$arenac" --stop "$@"
}

# Suites in the order in which they are likely to find a fault of FILE, by their cost.
suites_of() { # FILE
    case $1 in
    ir/lower/* | ir/loop/*) echo "goldens ops,values,proofs,units $1,goldens" ;;
    planner/*) echo "goldens plan,goldens csv,values,units $1,proofs,goldens" ;;
    codegen/*) echo "goldens c,values,proofs,units $1,goldens" ;;
    *) echo "values,goldens passes,proofs,units $1,goldens" ;;
    esac
}

# plant FILE WHAT, by the commands in the file `faults`; finds it, and puts the file back
plant() {
    cp -p "source/$1" kept
    echo "$1" >planting
    sed -f faults kept >"source/$1"
    found='NOT FOUND'
    if cmp -s kept "source/$1"; then
        found='CHANGES NOTHING'
    elif ! cmake --build $out -j "$jobs" --target arenac >log 2>&1; then
        found='DOES NOT BUILD'
    else
        IFS=,
        for suite in $(suites_of "$1"); do
            unset IFS
            # shellcheck disable=SC2086
            if ! $suite >suite.log 2>&1 </dev/null; then
                found=$suite
                break
            fi
        done
        unset IFS
    fi
    cp kept "source/$1"
    : >planting
    case $found in units*) found=units ;; esac
    printf '%-16s %s %s\n' "$found" "$1" "$2" | tee -a table
    case $found in NOT* | CHANGES* | DOES*) echo "$2" >>missing ;; esac
    n=$((n + 1))
}

n=0 file='' what=''
[ "$again" ] || : >table
: >faults
: >missing
{ grep -v '^#' "$root/scripts/mutants.txt" | grep . && echo 'end:'; } >rows
while IFS= read -r line <&3; do
    case $line in
    ' '*) echo "${line#    }" >>faults ;;
    *)
        if [ -n "$file" ] && echo "$file: $what" | grep -q -e "$pattern" &&
            ! grep -v '^[A-Z]' table | grep -q -F "$file $what"; then
            plant "$file" "$what"
        fi
        file=${line%%: *} what=${line#*: }
        : >faults
        ;;
    esac
done 3<rows
echo "$n faults planted, $(wc -l <missing) not found"
[ ! -s missing ]
