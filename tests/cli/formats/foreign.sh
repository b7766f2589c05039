#!/bin/sh
# Random graphs compared with ONNX Runtime and LiteRT (scripts/differential.sh --foreign), a few of each, always the
# same; and the script's report of a fault: a graph of one node, as .ag and with the command that shows it. ARENAC_ORT
# names a Python that has onnx, onnxruntime and ai-edge-litert; ARENAC_TF, ARENAC_MXNET and ARENAC_OPENCV others. usage:
# foreign.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require_runtime onnxruntime
run() { "$py" -W ignore "$src/tests/foreign/differential.py" "$@"; }
cat >planted <<END
#!/bin/sh
! { [ "\$1" = run ] && grep -q Concat "\$3"; } || exit 70
exec "$arenac" "\$@"
END
chmod +x planted
run ./planted faults --graphs 40 --seed 3 --backends "" >out.txt && die "a planted fault is not found"
grep -qx '    Concat' out.txt || die "the graph is not made smaller: $(cat out.txt)"
ls faults/fault-*.onnx faults/fault-*.ag faults/fault-*.txt >/dev/null
case $arenac in *asan*) n=10 ;; *) n=30 ;; esac
run "$arenac" onnx --graphs $n --seed 1 --backends c,prove
if "$py" -c 'import ai_edge_litert, flatbuffers' 2>/dev/null; then
    run "$arenac" tflite --kind tflite --graphs $n --seed 1 --backends c
fi
for kind in "tf ${ARENAC_TF-}" "mxnet ${ARENAC_MXNET-}" "caffe ${ARENAC_OPENCV-}"; do
    py=${kind#* } kind=${kind%% *}
    [ -z "$py" ] || run "$arenac" $kind --kind $kind --graphs $n --seed 1 --backends c
done
