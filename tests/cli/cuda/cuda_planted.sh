#!/bin/sh
# Planted bugs in kernels, and in the emulation's twins of tensor cores, are found by the emulation, and those that
# are races by the look at every access. usage: cuda_planted.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
have_sanitizers "${CC:-cc}" || exit 77
. "$src/tests/cli/cuda/cuda_tools"
target=cuda-sm90
for name in branch_int8 digits_f32 dsnet_f32 dsnet_int8; do
    "$arenac" compile -q "$models/$name.tflite" -t $target --name "$name" --emit cu,h -o "$name"
    program $name -fsanitize=address,undefined
    driver $name "$name.cu"
    run_program $name "the image" || { cat err; die "$name without a planted bug"; }
done
grep -q __syncthreads dsnet_f32.cu || die "no kernel has a barrier"
grep -q '  mma_i8(' branch_int8.cu || die "no kernel multiplies by tensor cores"

# plant MODEL WHAT SED WORDS [race]: the driver runs changed kernels, and its output contains WORDS. twin=FILE: changes
# the twins instead
twin=
plant() {
    cp "$rt/arn_cuda_mma.c" twins.c
    cp "$1.cu" planted.cu
    changed=${twin:-planted.cu}
    sed "$3" "$changed" >changed
    ! cmp -s "$changed" changed || die "nothing to plant in $1: $2"
    mv changed "$changed"
    cc="${CC:-cc} -std=gnu11 -O1 -w -fPIC -ffp-contract=off -DARN_CUDA_EMU -DFAKE_MODEL=$1_cuda -I$rt -I$tmp"
    # shellcheck disable=SC2086
    $cc ${5:+-fsanitize=thread} -c -o planted.o -x c planted.cu &&
        $cc -shared -o libcuda.so.1 planted.o "$cuda/fake_driver.c" ${emulation% *} twins.c \
            ${5:+"$rt/arn_cuda_race.c"} -lm || die "planted: $2"
    ! run_program "$1" "the image" || die "not found: $2"
    grep -q "$4" err || { cat err; die "found, but not as '$4': $1: $2"; }
}
plant digits_f32 'no wait for the kernel before' '/ARN_BEGIN/d' 'does not wait for the kernel before it'
plant digits_f32 'half of the threads wait' 's/ARN_BEGIN();/if (threadIdx.x < 16) ARN_BEGIN();/' 'does not wait'
late="/^    ARN_BEGIN();/d; /^ARN_KERNEL/,/^}/s/^}$/    ARN_BEGIN(); }/"
plant digits_f32 'a wait at the end' "$late" 'used before the kernel before has ended' race
barrier='__syncthreads();'
plant dsnet_f32 'no barrier' "/$barrier/d" 'status 100'
plant dsnet_f32 'no barrier' "/$barrier/d" 'race on' race
plant dsnet_f32 'a barrier that one thread misses' "s/$barrier/if (threadIdx.x != 5) $barrier/" 'waits at the barrier'
plant digits_f32 'a wrong lane' 's/s0\.v\[1\]/s0.v[2]/' 'status 100'
plant digits_f32 'copies that nobody waits for' '/late_wait(1);/d' 'status 100'
plant digits_f32 'a wait for one copy less' 's/late_wait(1);/late_wait(2);/' 'status 100'
early='s/\(copy_late16(s + (t .*\) + [0-9]*), x/\1), x/'
plant digits_f32 'a step that is copied to the stage that is read' "$early" 'status 100'
plant digits_f32 'a step that is copied to the stage that is read' "$early" 'race on' race
always='/copy_late16.*, x + /s/, t[0-9]*);$/, 1);/'
plant digits_f32 'no zeros outside of an image' "$always" 'status 100\|heap-buffer-overflow'
plant digits_f32 'a neighbour of another lane' 's/shfl_xor_f32(sum\[0\], 16)/shfl_xor_f32(sum[0], 4)/' 'status 100'
shuffle='keep\[0\] = sum\[0\] + shfl_xor_f32(sum\[0\], 16)'
plant digits_f32 'a shuffle that half of the warp leaves out' "s/$shuffle/if (threadIdx.x % 32 < 16) $shuffle/" 'waits'
one='s/copy_late16(s + (t[0-9]* + \([0-9]*\)), w/copy_late16(s + (\1), w/'
plant digits_f32 'threads write one element' "$one" 'race on' race
one='s/blockIdx.x \* 64u + threadIdx.x/(blockIdx.x | 1) * 64u + threadIdx.x/'
other='s/blockIdx.x \* 32u + threadIdx.x/(blockIdx.x | 1u) * 32u + threadIdx.x/'
plant dsnet_f32 'two blocks write one element' "$one; $other" 'race on' race
row='s/words\[1\] = \(.*\) + \([0-9]*\)));/words[1] = \1 + \2 - 16));/'
plant branch_int8 'fragments of another row' "$row" 'status 100'
plant branch_int8 'a product that a lane leaves out' 's/  mma_i8(/  if (threadIdx.x != 3) mma_i8(/' 'waits'
plant branch_int8 'fragments read before they are there' "/$barrier/d" 'race on' race
# Steps in one launch: what blocks keep and give each other, ranks, and weights that are loaded ahead
wait='arn_mail_wait([0-9]*u);'
plant dsnet_int8 'no waits between steps' "/^ *$wait/d" 'race on' race
for steps in 0 6 11; do
    plant dsnet_int8 "no wait in the launch of step $steps" "/_steps_$steps(/,/^}/{/^ *$wait/d}" 'race on' race
done
plant dsnet_int8 'a wait that a block leaves out' "s/^ *$wait/if (blockIdx.x != 3) &/" 'waits'
plant dsnet_int8 'a wait that a thread leaves out' "s/^ *$wait/if (threadIdx.x != 5) &/" 'waits'
plant dsnet_int8 'two blocks of one rank' 's/blockIdx.x % 8/blockIdx.x % 7/' 'race on' race
give='^\( *arn_send_i32x4(out_1 + (t[0-9]*\)), (r + (\([^,]*\) + 1)) % 8'
plant dsnet_int8 'a block that gets nothing' "s@$give@\1), (r + (\2 + 1)) % 7@" 'waits for'
plant dsnet_int8 'words for another place' "s@$give@\1 + 16), (r + (\2 + 1)) % 8@" 'race on\|outside of its arrays' race
plant dsnet_int8 'words that nobody sends' "s@$give@if (threadIdx.x != 9) &@" 'waits for'
# Bounds: of each tensor, though another one begins where it ends, and of each array in shared memory
plant digits_f32 'a weight of the neighbour' 's/ k_1\[/ k_1[1 + /' 'behind the end of a tensor' race
plant digits_f32 'a weight of the neighbour' 's/ k_1\[/ k_1[1 + /' 'status 100'
plant digits_f32 'a weight far away' 's/ k_1\[/ k_1[90000 + /' 'behind the end of a tensor'
plant digits_f32 'an element before the first' '/steps_0(/,/^}/s/ x\[/ x[-1 + /' 'before a tensor' race
plant digits_f32 'results behind the last' '/conv_2d_2(/,/^}/s/(out + (/(out + (64 + /' 'behind the end of a tensor'
weight='ARN_BEGIN(); ((float *)k)[0] = 0;'
plant digits_f32 'a weight that changes' "/steps_0(/,/^}/s/ARN_BEGIN();/$weight/" 'stores to weights'
small='s/ARN_SHARED(float, xs, \([0-9]*\))/ARN_SHARED(float, xs, \1 - 12)/'
plant dsnet_f32 'stores behind an array' "$small" 'stores outside of an array in shared memory'
plant dsnet_f32 'loads behind an array' "$small" 'shared memory outside of its arrays' race
twin=twins.c
plant branch_int8 'a wrong lane' 's/a\[g + 8\]\[q\] = all\[thread\]\[1\]/a[g + 8][q] = all[thread ^ 1][1]/' 'status 100'
column='(int)(arn_emu_thread.x % 4)'
plant branch_int8 'results of another lane' "s/return $column \\* 2 + k % 2/return $column + k % 2 * 4/" 'status 100'
