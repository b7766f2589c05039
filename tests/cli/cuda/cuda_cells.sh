#!/bin/sh
# A recurrent layer is one launch for all steps, of a cluster of blocks or of one block: the emulation gives the
# evaluator's bits, and finds errors planted in the kernel: barriers of the cluster, blocks, places, the other row.
# usage: cuda_cells.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
. "$src/tests/cli/cuda/cuda_tools"
models=$tmp kind=ag target=cuda-sm90

# numbers COUNT FIRST SCALE
numbers() {
    awk -v n="$1" -v s="$2" -v k="$3" 'BEGIN {
        for (i = 0; i < n; i++) {
            s = (s * 1103 + 12345) % 65536
            printf "%s%.4f", i ? ", " : "", (s / 32768 - 1) * k
        }
    }'
}

# lstm UNITS: five steps of a layer of LSTM cells; steps INPUT.npy
lstm() {
    n=$1
    printf 'graph lstm {\n  input x: f32[5,1,%d]\n  const h: f32[1,%d] = splat 0.5\n' $((4 * n)) "$n"
    printf '  const c: f32[1,%d] = splat -0.25\n  hn, cn, y = scan(h, c, x) first=1 states=2 sequences=1\n' "$n"
    printf '  output y\n}\ngraph step {\n  input h: f32[1,%d]\n  input c: f32[1,%d]\n' "$n" "$n"
    printf '  input x: f32[1,%d]\n' $((4 * n))
    printf '  const r: f32[%d,%d] = [%s]\n' $((4 * n)) "$n" "$(numbers $((4 * n * n)) 7 0.1)"
    printf '  p = fully_connected(h, r) keep_dims=true\n  s = add(p, x)\n'
    for g in 0 1 2 3; do
        printf '  s%d = slice(s) begin=[0,%d] size=[1,%d]\n' "$g" $((g * n)) "$n"
    done
    printf '  i = logistic(s0)\n  o = logistic(s1)\n  f = logistic(s2)\n  g = tanh(s3)\n  a = mul(f, c)\n'
    printf '  b = mul(i, g)\n  cn = add(a, b)\n  t = tanh(cn)\n  hn = mul(o, t)\n  output hn, cn, hn\n}\n'
}

# rnn UNITS: five steps of tanh(r h + x), which on the CPU may not overwrite h too early
rnn() {
    printf 'graph rnn {\n  input x: f32[5,1,%d]\n  const h: f32[1,%d] = splat 0.5\n' "$1" "$1"
    printf '  last, y = scan(h, x) first=1 states=1 sequences=1\n  output y\n}\n'
    printf 'graph step {\n  input h: f32[1,%d]\n  input x: f32[1,%d]\n' "$1" "$1"
    printf '  const r: f32[%d,%d] = [%s]\n' "$1" "$1" "$(numbers $(($1 * $1)) 7 0.1)"
    printf '  p = fully_connected(h, r) keep_dims=true\n  s = add(p, x)\n  n = tanh(s)\n  output n, n\n}\n'
}

# layer CELL NAME UNITS GATES: NAME.ag, NAME.in0.0.npy
layer() {
    "$1" "$3" >"$2.ag"
    shift
    x=$(numbers $((5 * $3 * $2)) 3 1)
    printf 'graph x {\n  const x: f32[5,1,%d] = [%s]\n  output x\n}\n' $(($3 * $2)) "$x" >x.ag
    "$arenac" run -q x.ag --output-dir x
    mv x/0.npy "$1.in0.0.npy"
}

# agree NAME TARGET BLOCKS: one launch, the same bits, no race; near the results of the CPU's order of sums
agree() {
    "$arenac" plan -v "$1.ag" -t "$2" >plan
    grep -q "^ *0  *0  *scan  *$3 " plan || { cat plan; die "$1, $2: launches"; }
    for how in eval cuda-emu cuda-race; do
        "$arenac" run -q "$1.ag" -t "$2" --input 0="$1.in0.0.npy" --backend $how --output-dir $how ||
            die "$1, $2: $how"
        cmp -s eval/0.npy $how/0.npy || die "$1, $2: $how differs from the evaluator"
    done
    "$arenac" run -q "$1.ag" -t generic --input 0="$1.in0.0.npy" --backend eval --compare 0=eval/0.npy \
        --max-ulp 500 || die "$1, $2: far from the CPU"
}
layer lstm small 40 4
layer lstm lstm 128 4
layer rnn rnn 72 1
agree rnn cuda-sm90 1
agree small cuda-sm80 1
agree small cuda-sm90 1
agree lstm cuda-sm90 8

"$arenac" compile -q lstm.ag -t cuda-sm90 --name lstm --emit cu,h -o lstm
program lstm
wait='arn_cluster_wait();'

# plant WHAT SED WORDS
plant() {
    sed "$2" lstm.cu >planted.cu
    ! cmp -s lstm.cu planted.cu || die "nothing to plant: $1"
    driver lstm planted.cu
    ! run_program lstm "the image" || die "not found: $1"
    grep -q "$3" err || { cat err; die "found, but not as '$3': $1"; }
}
driver lstm lstm.cu
run_program lstm "the image" || { cat err; die "the kernel as it is"; }
plant 'no barrier before the first step' "/^ *$wait/d" 'status 100'
plant 'a barrier that one thread misses' "s/^\( *\)$wait/\1if (threadIdx.x != 5) $wait/" 'waits for its cluster'
plant 'a barrier that one block misses' "s/^\( *\)$wait/\1if (blockIdx.x != 3) $wait/" 'block 3: waits for 512 bytes'
mail='arn_mail_wait(512u);'
plant 'no wait for the values' "/^ *$mail/d" 'status 100'
plant 'a wait for less' "s/$mail/arn_mail_wait(508u);/" 'waits for 508 bytes of its cluster, and gets 512'
plant 'a wait that one thread misses' "s/^\( *\)$mail/\1if (threadIdx.x != 5) $mail/" 'waits for bytes of its cluster'
plant 'a value that a block keeps' 's/^\( *\)arn_send/\1if (blockIdx.x != 3) arn_send/' 'and gets 448'
plant 'all values go to one block' 's/\(arn_send_f32(.*\), t[0-9]*, /\1, 0, /' 'of its cluster'
plant 'values go to a block that is not there' 's/\(arn_send_f32(.*\), \(t[0-9]*\), /\1, 1 + \2, /' 'cluster of 8'
plant 'the row of this step, not of the next' 's/(1 - t1) \* 128/t1 * 128/' 'status 100'
plant 'no barrier of the block' 's/^  *__syncthreads();//' 'status 100'
