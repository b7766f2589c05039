#!/bin/sh
# The networks of ../shared/training against PyTorch in float64. usage: training_suite.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
have_shared training/check_training.py || exit 77
"$py" "$shared/training/check_training.py" --cmd "$arenac" --models -q
