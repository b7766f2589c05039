#!/bin/sh
# --cache-weights: same outputs as without, bit for bit; every weight is read once; the code is proven; certificates
# replay. Known models: bytes of the arena, and instructions in QEMU. usage: cache_weights.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e

figure() { # KEY MODEL OPTION...: of plan --json, the first
    key=$1
    shift
    "$arenac" plan -q --json "$@" | sed -n "s/.*\"$key\": *\([0-9]*\).*/\1/p" | head -1
}
once() { # MODEL OPTION...: the weights are read once, but for those that cost nothing
    read=$(figure weight_read_bytes "$@")
    all=$(figure weight_bytes "$@")
    [ "$((read * 100))" -le "$((all * 102))" ] || fail "$*: reads $read B of $all B of weights"
}
same() { # MODEL INPUT TARGET OPTION...
    model=$1 input=$2 target=$3
    shift 3
    "$arenac" run -q "$model" -t "$target" --backend eval --input "0=$input" --output-dir want
    for backend in eval c; do
        "$arenac" run -q "$model" -t "$target" "$@" --poison --backend $backend --input "0=$input" --output-dir got
        cmp want/0.npy got/0.npy
    done
}
for m in digits dsnet; do
    for t in f32 int8; do
        f=$models/${m}_$t
        same "$f.tflite" "$f.in0.0.npy" generic --cache-weights 1M
        same "$f.tflite" "$f.in0.0.npy" x86-64-v3 --cache-weights 1M --stripe auto --align 4
        "$arenac" prove -q "$f.tflite" -t generic --cache-weights 1M >/dev/null
        verified "$f.tflite" --cache-weights 1M --overlap on
    done
    for t in generic cortex-m4 cortex-m55 rv32imac; do
        once "$models/${m}_int8.tflite" -t $t --cache-weights 1M
        "$arenac" prove -q "$models/${m}_int8.tflite" -t $t --cache-weights 1M --stripe auto \
            >/dev/null
    done
done
# in blocks of channels, one after the other: 1 KiB is less than the weights of most steps
for t in generic cortex-m4 cortex-m55 rv32imac x86-64-v3; do
    f=$models/dsnet_int8
    "$arenac" run -q $f.tflite -t $t --cache-weights 1K --overlap on --poison --backend eval --input 0=$f.in0.1.npy \
        --compare 0=$f.out0.1.npy
    verified $f.tflite -t $t --cache-weights 1K --overlap on
done
once "$f.tflite" -t cortex-m4 --cache-weights 1K
once "$f.tflite" -t generic --cache-weights 1K
same "$f.tflite" "$f.in0.0.npy" generic --cache-weights 1K --stripe auto --align 4
for t in generic cortex-m4 cortex-m55; do
    "$arenac" prove -q "$f.tflite" -t $t --cache-weights 1K >/dev/null
done
f=$models/dsnet_int8.tflite
same "$f" "$models/dsnet_int8.in0.0.npy" generic --stripe 1-3,5-6 --cache-weights 64K --align 4
[ "$(figure weight_read_bytes "$f" --cache-weights 16)" = "$(figure weight_read_bytes "$f")" ] ||
    fail "weights that are larger than the limit are copied"
[ "$(arena_bytes "$f" --cache-weights 16)" = "$(arena_bytes "$f")" ] || fail "no copies, and another arena"
expect 0 'weights read .* times their size' "$arenac" plan "$f" --cache-weights 64K
expect 0 'cache-weights is ignored' "$arenac" plan "$f" --cache-weights 64K --threads 2
expect 0 'cache-weights is ignored' "$arenac" plan "$f" --cache-weights 64K -t cuda-sm80
expect 2 "'4Q' is not a size" "$arenac" plan "$f" --cache-weights 4Q
"$arenac" compile -q "$f" -t cortex-m4 --cache-weights 64K --stack estimate --emit c -o m4.c
grep -q '  rows_2x4_17(line, w_cached' m4.c || fail "products of cached weights are tiles, not rows_2x4"
"$arenac" prove "$f" -t cortex-m4 --cache-weights 64K -o cached.cert >/dev/null
expect 0 '^VALID' "$(dirname "$arenac")/arenac-certcheck" cached.cert
! have_arm || expect 0 'outputs are the evaluator' "$arenac" bench "$models/digits_int8.tflite" -t cortex-m4 \
    --cache-weights 64K
[ "$bad" = 0 ] || exit 1

have_shared models || exit 0
within() { # NAME BYTES OPTION...: of the arena, with the copies
    f=$shared/models/tflite/$1/$1.tflite most=$2
    [ -f "$f" ] || return 0
    shift 2
    once "$f" -t cortex-m4 --align 4 "$@"
    got=$(arena_bytes "$f" -t cortex-m4 --align 4 "$@")
    [ "$got" -le "$most" ] || fail "$*: $got B, at most $most are expected"
}
within kws_dscnn_int8 16896 --overlap on --cache-weights 8K # 8,704 B and the 8 KiB granted
within ic_resnet8_int8 33280 --stripe auto --cache-weights 8K
within ic_resnet8_int8 34880 --stripe auto --cache-weights 16K
within ic_resnet8_int8 40016 --stripe auto --cache-weights 24K
within mobilenet_v1_025_96_int8 36224 --stripe auto --cache-weights 8K
f=$shared/models/tflite/ic_resnet8_int8/ic_resnet8_int8.tflite
[ ! -f "$f" ] || for c in 2K 8K; do
    "$arenac" run -q "$f" -t cortex-m4 --backend eval --random 7 --output-dir want
    "$arenac" run -q "$f" -t cortex-m4 --backend eval --random 7 --stripe auto --cache-weights $c --poison \
        --output-dir got
    cmp want/0.npy got/0.npy
done
exit $bad
