#!/bin/sh
# Random products and convolutions of floats and of bytes, with odd sizes: the emulation of a GPU gives the evaluator's
# bits, no access is a race, and the C backend agrees; so are products of normalised rows.
# usage: cuda_products.sh ARENAC SOURCE_DIR [FIRST LAST]
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
require python3 python3
have_numpy || exit 77
first=${3:-1} last=${4:-9}
for seed in $(seq "$first" "$last"); do
    norm=$([ $((seed % 3)) = 2 ] && echo norm)
    # shellcheck disable=SC2086
    python3 "$src/tests/cuda/products.py" "$seed" $norm >net.ag
    target=cuda-sm$(echo 90 80 75 | cut -d' ' -f$((seed / 3 % 3 + 1)))
    gpu=cuda-$(echo race emu | cut -d' ' -f$((seed % 2 + 1)))
    exact=$([ $((seed % 5)) = 0 ] && echo --exact)
    rm -rf eval cuda-race cuda-emu c
    for backend in eval "$gpu" c; do
        of=$([ $backend = c ] || echo -t "$target")
        # shellcheck disable=SC2086
        "$arenac" run -q net.ag $of $exact --backend $backend --random "$seed" --output-dir $backend ||
            die "seed $seed: $backend"
    done
    for f in eval/*.npy; do
        cmp "$f" "$gpu/${f#eval/}" || die "seed $seed: not the bits of the evaluator"
    done
    near=$(grep -q f16 net.ag && echo 3e-3 || echo 3e-5)
    $py -c 'import numpy, sys
a, b = (numpy.load(f).astype(float) for f in sys.argv[1:3])
sys.exit(not abs(a - b).max() <= float(sys.argv[3]) * (abs(b).max() + 1e-9))' eval/0.npy c/0.npy "$near" ||
        die "seed $seed: far from C"
    [ $((seed % 4)) != 0 ] || "$arenac" prove -q net.ag -t "$target" >proof || { cat proof; die "seed $seed: proof"; }
done
for seed in $(seq "$first" "$last"); do
    python3 "$src/tests/cuda/products.py" "$seed" bytes >net.ag
    gpu=cuda-$(echo race emu | cut -d' ' -f$((seed % 2 + 1)))
    "$arenac" run -q net.ag --backend eval --random "$seed" --output-dir eval || die "seed $seed"
    "$arenac" run -q net.ag -t cuda-sm90 --backend "$gpu" --random "$seed" --output-dir "$gpu" || die "bytes $seed"
    cmp eval/0.npy "$gpu/0.npy" || die "bytes, seed $seed: not the bits of the evaluator"
    [ $((seed % 4)) != 0 ] || "$arenac" prove -q net.ag -t cuda-sm90 >proof || { cat proof; die "bytes $seed: proof"; }
done
echo "seeds $first to $last"
