#!/bin/sh
# NAME_seed of models that draw random numbers on a GPU, with a driver that checks the rules: the numbers of a seed and
# a run, as launches and as a graph. usage: cuda_random.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require "${CC:-cc}" gcc
have_sanitizers "${CC:-cc}" || exit 77
have_numpy || exit 77
. "$src/tests/cli/cuda/cuda_tools"

"$py" "$src/tests/cli/random_check.py" models "$src"
"$arenac" compile -q small.ag -t cuda-sm90 --name small --emit cu,h -o small
driver small small.cu
"${CC:-cc}" -std=gnu99 -Wall -Wextra -Werror -g -fsanitize=address,undefined -I"$rt" -I. -o main "$cuda/run_random.c" \
    "$rt/arn_cuda.c" -x c small.cu -ldl || die "a program with small_seed"
ASAN_OPTIONS=detect_leaks=0 LD_LIBRARY_PATH="$tmp" ./main "the image" >runs.txt 2>err || { cat err; die "the program"; }
"$py" "$src/tests/cli/random_check.py" runs runs.txt || die "the runs of small.ag"
[ "$(wc -l <runs.txt)" = 5 ] || die "five runs"

"$arenac" compile -q small.ag -t cuda-sm90 --noise input --emit cu,h -o given
! grep -q given_seed given.h || die "a model without random numbers has NAME_seed"
