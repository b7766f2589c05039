#!/usr/bin/env python3
"""Generated code against the libraries people would use instead, on the same models.

    bench/run.py                         all models below, one thread
    bench/run.py --threads 2 --only v2   wall time of two threads
    bench/run.py --by cpu                CPU time instead of wall time: steadier on a busy machine, one thread only
    bench/run.py --only mobilenet --rounds 10 --markdown table.md
    bench/run.py --avx2                  code for AVX2 (-t x86-64-v3) compared with OpenVINO limited to AVX2
    bench/run.py --arenac OLD/arenac --label before     another compiler binary in addition to the built one
    bench/run.py --also=--winograd --only resnet        a column of its own for other options of the (last) compiler

Peers (ONNX Runtime, LiteRT with XNNPACK, OpenVINO) come from PyPI, into build/bench/venv; one that cannot be installed
is skipped. The ONNX models are made by bench/models.py in build/bench/onnx; TFLite models and the driver that
interleaves the processes are those of the shared folder beside the checkout; without it there is nothing to compare,
and the script says so and ends with 0. All figures are minima over the rounds: the rounds of all programs alternate, so
that load on the machine hits them alike."""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PACKAGES = {"ort": "onnxruntime", "litert": "ai-edge-litert", "openvino": "openvino"}
READS = {".onnx": ("ort", "openvino"), ".tflite": ("litert", "openvino")}

# name, file below shared/models, or a name of bench/models.py
MODELS = [
    ("MobileNetV2 f32", "mobilenetv2"),
    ("ResNet18 f32", "resnet18"),
    ("ResNet50 f32", "resnet50"),
    ("SqueezeNet1.1 f32", "squeezenet"),
    ("EfficientNet-B0 f32", "efficientnet_b0"),
    ("ViT-tiny f32", "vit_tiny"),
    ("BERT 4x256 f32", "bert4"),
    ("LSTM 2x128 f32", "lstm"),
    ("KWS f32", "kws"),
    ("ResNet8 f32", "resnet8"),
    ("VWW f32 (ONNX)", "vww"),
    ("AD f32 (ONNX)", "ad"),
    ("MobileNetV2 1.0 int8", "tflite/mobilenet_v2_100_224_int8/mobilenet_v2_100_224_int8.tflite"),
    ("KWS int8", "tflite/kws_dscnn_int8/kws_dscnn_int8.tflite"),
    ("ResNet8 int8", "tflite/ic_resnet8_int8/ic_resnet8_int8.tflite"),
    ("VWW int8", "tflite/mobilenet_v1_025_96_int8/mobilenet_v1_025_96_int8.tflite"),
    ("EfficientNet 0.5 int8", "tflite/efficientnet_b0_w05_128_int8/efficientnet_b0_w05_128_int8.tflite"),
    ("U-Net int8", "tflite/unet_d4_96_int8/unet_d4_96_int8.tflite"),
    ("AD dynamic range", "tflite/ad_autoencoder_dynquant/ad_autoencoder_dynquant.tflite"),
    ("MobileNetV2 0.5 f32", "tflite/mobilenet_v2_050_224_f32/mobilenet_v2_050_224_f32.tflite"),
    ("VWW f32", "tflite/vww_mobilenet_f32/vww_mobilenet_f32.tflite"),
    ("AD f32", "tflite/ad_autoencoder_f32/ad_autoencoder_f32.tflite"),
    ("ViT micro f32", "tflite/vit_micro_48_f32/vit_micro_48_f32.tflite"),
    ("Transformer f32", "tflite/transformer_enc_s32_f32/transformer_enc_s32_f32.tflite"),
    ("DenseNet f32", "tflite/densenet_k8_64_f32/densenet_k8_64_f32.tflite"),
    ("LSTM f32 (TFLite)", "tflite/lstm2_f32/lstm2_f32.tflite"),
]


def options():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--arenac", action="append", default=[], metavar="FILE",
                    help="compiler (default build/arenac); repeat")
    ap.add_argument("--label", action="append", default=[], metavar="NAME", help="name of that compiler's column")
    ap.add_argument("--also", action="append", default=[], metavar="OPTIONS",
                    help="a column more, with these options; repeat")
    ap.add_argument("--target", default="native", help="as for arenac -t")
    ap.add_argument("--avx2", action="store_true",
                    help="-t x86-64-v3; of the peers only the one that can be held to AVX2, OpenVINO "
                         "(ONEDNN_MAX_CPU_ISA)")
    ap.add_argument("--cc", default=os.environ.get("CC", "cc"))
    ap.add_argument("--flags", default="-O2")
    ap.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    ap.add_argument("--work", default=os.path.join(ROOT, "build", "bench"), help="venv, programs, results")
    ap.add_argument("--python", help="interpreter that has the peers already")
    ap.add_argument("--peers", default="ort,litert,openvino")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--by", choices=("wall", "cpu"), default="wall")
    ap.add_argument("--rounds", type=int, default=6)
    ap.add_argument("--secs", type=float, default=0.25, help="per program and round")
    ap.add_argument("--only", default="", help="models whose name or file contains this")
    ap.add_argument("--markdown", metavar="FILE", help="write the table there too")
    return ap.parse_args()


def say(text):
    print(text, flush=True)


def make_venv(o):
    """The interpreter with the peers, and those of o.peers that it has."""
    python = o.python or os.path.join(o.work, "venv", "bin", "python")
    if not os.path.exists(python):
        say("making %s" % os.path.dirname(os.path.dirname(python)))
        subprocess.run([sys.executable, "-m", "venv", os.path.join(o.work, "venv")], check=True)
        for package in ["numpy", "onnx"] + sorted(PACKAGES.values()):
            subprocess.run([python, "-m", "pip", "install", "-q", package])
    have = []
    for peer in filter(None, o.peers.split(",")):
        module = PACKAGES.get(peer, peer).replace("-", "_")
        if subprocess.run([python, "-c", "import " + module], capture_output=True).returncode == 0:
            have.append(peer)
        else:
            say("%s: not installed, left out" % PACKAGES.get(peer, peer))
    return python, have


def build(o, arenac, model, folder, more=()):
    """A program that times `model` as this compiler translates it; None and a message when that fails."""
    os.makedirs(folder, exist_ok=True)
    c, out = os.path.join(folder, "net.c"), os.path.join(folder, "net")
    pool = ["-I" + os.path.join(ROOT, "runtime"), os.path.join(ROOT, "runtime", "arn_pool.c"), "-pthread"]
    threads = ["--threads", str(o.threads)] if o.threads > 1 else []
    steps = [[arenac, "compile", "-q", model, "--name", "net", "-t", o.target, "--weights", "asm", "-o", c] + threads +
             list(more),
             [o.cc] + o.flags.split() + ["-I" + folder, c, os.path.join(HERE, "time_net.c"),
                                         "-o", out] + (pool if threads else [])]
    for step in steps:
        r = subprocess.run(step, capture_output=True, text=True)
        if r.returncode:
            say("%s: %s" % (os.path.basename(model), (r.stderr or r.stdout).strip().split("\n")[0]))
            return None
    return out


# The physical pages of a program's weights account for up to a fifth of its time, and stay the same while the file is
# cached: each run uses a copy.
COPIED = 'cp "$0" "$0.run" && exec "$0.run" "$1"'


def measure(o, python, peers, driver, model, programs):
    """{program or peer: min ms}, rounds interleaved by the driver."""
    result = os.path.join(o.work, "result.json")
    if os.path.exists(result):
        os.remove(result)
    cmd = [python, driver, "--model", model, "--rounds", str(o.rounds), "--secs", str(o.secs), "--json", result,
           "--threads", str(o.threads), "--peers", ",".join(p for p in peers if p in READS[os.path.splitext(model)[1]])]
    for label, program in programs.items():
        cmd += ["--cmd", "%s=sh -c '%s' %s %g" % (label, COPIED, program, o.secs)]
    r = subprocess.run(cmd, capture_output=True, text=True)
    if r.returncode or not os.path.exists(result):
        say("%s: %s" % (model, (r.stderr or r.stdout).strip()[-200:]))
        return {}
    with open(result) as f:
        rows = json.loads(f.readlines()[-1])["rows"]
    key = "cpu_min_ms" if o.by == "cpu" else "min_ms"
    return {row["peer"]: row[key] for row in rows if row.get(key)}


def find(o, python, file):
    """The model's path, made first where bench/models.py has it; None and a message when it is not there."""
    if "." in file:
        model = os.path.join(o.shared, "models", file)
    else:
        model = os.path.join(o.work, "onnx", file + ".onnx")
        if not os.path.exists(model):
            subprocess.run([python, os.path.join(HERE, "models.py"), os.path.dirname(model), file])
    if not os.path.exists(model):
        say("%s is missing, skipped" % model)
        return None
    return model


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(rows, labels, peers):
    """Markdown: a row for each model, then the mean of the ratios of all float and of all other models."""
    head = ["model"] + labels + peers + ["%s / best peer" % x for x in labels]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    ratios = {(x, real): [] for x in labels for real in (True, False)}
    for name, ms in rows:
        best = min((ms[p] for p in peers if p in ms), default=None)
        cells = [name] + ["%.4f" % ms[x] if x in ms else "-" for x in labels + peers]
        for x in labels:
            known = best and x in ms
            cells.append("%.2f" % (ms[x] / best) if known else "-")
            if known:
                ratios[x, "f32" in name].append(ms[x] / best)
        lines.append("| " + " | ".join(cells) + " |")
    for real, what in ((True, "f32"), (False, "int8")):
        lines.append("| geometric mean, %s |" % what + " |" * len(labels + peers) +
                     "".join(" %.2f |" % mean(ratios[x, real]) for x in labels))
    return "\n".join(lines)


def main():
    o = options()
    driver = os.path.join(o.shared, "bench", "peers.py")
    if not os.path.exists(driver):
        say("%s is missing: nothing to compare with, skipped" % driver)
        return 0
    if o.avx2:
        o.target = "x86-64-v3"
        o.peers = ",".join(p for p in o.peers.split(",") if p == "openvino")
        os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    compilers = o.arenac or [os.path.join(ROOT, "build", "arenac")]
    labels = (o.label + ["arenac", "arenac-2", "arenac-3"][len(o.label):])[:len(compilers)]
    also = [a.lstrip("-").replace("=", " ") for a in o.also]
    columns = ([(x, c, []) for x, c in zip(labels, compilers)] +
               [(x, compilers[-1], a.split()) for x, a in zip(also, o.also)])
    labels += also
    os.makedirs(o.work, exist_ok=True)
    python, peers = make_venv(o)
    rows = []
    for name, file in MODELS:
        if o.only.lower() not in (name + " " + file).lower():
            continue
        model = find(o, python, file)
        if not model:
            continue
        stem = os.path.splitext(os.path.basename(file))[0]
        built = {x: build(o, c, model, os.path.join(o.work, x.replace(" ", "_"), stem), more) for x, c, more in columns}
        ms = measure(o, python, peers, driver, model, {x: p for x, p in built.items() if p})
        rows.append((name, ms))
        say("%-24s %s" % (name, "  ".join("%s %.4f" % kv for kv in ms.items())))
    text = table(rows, labels, peers)
    say("\nmilliseconds of %s time, minimum of %d interleaved rounds, %d thread%s\n%s" %
        (o.by, o.rounds, o.threads, "s" * (o.threads > 1), text))
    if o.markdown:
        with open(o.markdown, "w") as f:
            f.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
