#!/bin/sh
# Results on microcontrollers are bit-identical to the evaluator's, and the stack is as large as the header states:
# models and random operators, C by gcc and by clang, and object, with and without stripes, on Cortex-M4, M55, M0+ and
# RV32 in QEMU.
# ARENAC_LONG=1: every int8 model of ../shared that fits a board, and 2,000 random operators (hours). usage: boards.sh
# ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
run() {
    python3 "$src/tests/firmware.py" "$arenac" "$@"
    got=$?
    [ $got != 77 ] || exit 77
    [ $got = 0 ] || fail "$*"
}
forms=c
! have_llvm || forms=c,o
if [ -z "${ARENAC_LONG:-}" ]; then
    run random 24 --nodes 24 --emit $forms
    ! command -v clang >/dev/null || run random 24 --nodes 24 --emit c --cc clang --target cortex-m4 --target cortex-m55
    run models "$models/dsnet_int8.tflite" --emit $forms
    run models "$src/tests/cross/sum_of_nine.ag" --emit $forms --target cortex-m55 --options ''
    run models "$src/tests/cross/gathered.ag" --emit $forms --target cortex-m55 --options ''
    run models "$src/tests/cross/one_layer.ag" --emit c --target cortex-m55 --options ''
    run models "$models/dsnet_int8.tflite" --emit c --opt=-Os --target cortex-m0plus
    run random 12 --nodes 12 --emit c --options "--stack estimate" --target cortex-m0plus
    ! command -v clang >/dev/null || run models "$models/dsnet_int8.tflite" --emit c --cc clang --target cortex-m4
    for more in '' '--stripe auto'; do
        python3 "$src/tests/frames.py" "$arenac" "$models/dsnet_int8.tflite" --options "$more" || fail "frames $more"
    done
else
    run random 2000 --emit $forms
    ! command -v clang >/dev/null || run random 2000 --emit c --cc clang
    have_shared models/tflite || exit $bad
    for m in "$shared"/models/tflite/*int8*/*.tflite "$shared"/models/tflite/*uint8*/*.tflite "$models"/*int8.tflite; do
        run models "$m" --emit $forms
    done
fi
exit $bad
