#!/bin/sh
# The code size in a report equals that of `size`, because compile runs the target's gcc; the estimate of plan, from
# loops, is close to it, also for many small steps, on each kind of core. usage: code_size.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_arm || exit 77
require python3 python3
set -- "$models"/*_int8.tflite
if have_shared models/tflite; then
    for m in kws_dscnn_int8 ic_resnet8_int8 mobilenet_v1_025_96_int8 person_detect_int8 micro_speech_int8 \
        hello_world_int8 lenet_300_100_int8 mnist_cnn_uint8 mnist_lstm_int8 inception_mini_96_int8 unet_d4_96_int8 \
        mcunet_person_det_int8 mobilenet_v2_100_224_int8 audio_preprocessor_int8 resnet8_int16x8 har_conv1d_f32; do
        [ ! -e "$shared/models/tflite/$m/$m.tflite" ] || set -- "$@" "$shared/models/tflite/$m/$m.tflite"
    done
fi
awk 'BEGIN {
    print "graph many {\n  input x: i8[1,4,4,4] q(0.05, 0)\n  const w: i8[4,1,1,4] q(0.01, 0) = random 1 (-127, 127)"
    for (i = 0; i < 120; i++)
        printf "  y%d: i8[1,4,4,4] q(0.0%d, 0) = conv_2d(%s, w, _)\n", i, 50 + i % 7, i ? "y" (i - 1) : "x"
    print "  output y119\n}"
}' >many.ag
python3 - "$arenac" "$src" many.ag "$@" <<'END' || fail "code"
import json
import subprocess
import sys
arenac, src = sys.argv[1:3]
sys.path.insert(0, src + "/bench")
import board
boards, bad = board.read_boards(), 0


def report(target, *words):
    out = subprocess.run([arenac, *words, "-q", "-t", target, "--json"], capture_output=True, text=True).stdout
    return json.loads(out)["model"]


def on(target, paths, asked):
    """asked: the figures of compile, which has asked gcc, are held against it, too."""
    b, wrong, estimated, real, near = boards[target], 0, 0, 0, 0
    for path in paths:
        said = report(target, "compile", path, "--name", "net", "-o", "net", "--weights", "asm",
                      *([] if asked else ["--stack", "estimate"]))
        guess = report(target, "plan", path)["code_bytes_estimate"]
        for opt, key in (("-O2", "code_bytes_estimate"), ("-Os", "code_bytes_small"))[:2 if asked else 1]:
            board.gcc(b, opt, "-w", "-ffunction-sections", "-fdata-sections", "-c", "net.c", "-o", "net.o")
            code = board.flash(b, "net", "net.o", ".")[0]
            if asked and abs(said[key] - code) > 0.02 * code + 16:
                print("%s %s: said %d, is %d" % (path, opt, said[key], code))
                wrong += 1
            if opt == "-O2":
                estimated, real, near = estimated + guess, real + code, near + (abs(guess - code) <= 0.25 * code)
    if not 0.88 * real <= estimated <= 1.12 * real or near < 0.75 * len(paths):
        print("%s: estimates add up to %d, code to %d; %d of %d are near" % (target, estimated, real, near, len(paths)))
        wrong += 1
    return wrong


paths = sys.argv[3:]
bad += on("cortex-m4", paths, True)
for target in "cortex-m55", "cortex-m0plus", "rv32imac":  # a set of weights each
    if not board.missing(boards[target]):
        bad += on(target, paths[:14], False)
sys.exit(bad != 0)
END
exit $bad
