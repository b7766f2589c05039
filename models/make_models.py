#!/usr/bin/env python3
"""Train, quantise and record the sample models of this folder.

How to run (CPython 3.11 was used; a few minutes on two CPU cores):

    python3 -m venv VENV                  # anywhere outside the source tree
    VENV/bin/pip install -r models/requirements.txt
    VENV/bin/python models/make_models.py [--out DIR] [--only digits,dsnet,branch]

It writes NAME.tflite, NAME.in0.SET.npy and NAME.out0.SET.npy next to itself (or
into DIR) and prints the table of figures that README.md quotes.  arenac itself
never runs this script: its results are checked in.

Everything is seeded, and TensorFlow is held to one thread and to deterministic
kernels, so that two runs on one machine give the same files.  Another CPU or
another TensorFlow may round differently and so train slightly other weights;
the references then change along with the models.
"""
import argparse
import os

# Before TensorFlow is imported: no GPU, no oneDNN (its kernels are chosen by the
# CPU found, which would change the rounding), no start-up chatter.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import warnings
from collections import Counter

warnings.filterwarnings("ignore")

import absl.logging
import numpy as np
import tensorflow as tf
import keras
from keras import layers as L
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2)
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

tf.get_logger().setLevel("ERROR")
absl.logging.set_verbosity(absl.logging.ERROR)
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.experimental.enable_op_determinism()

SEED = 20240607
TEST_SIZE = 360  # a fifth of the 1797 digits
# A model that needs any other operator is a mistake in this script.
ALLOWED_OPS = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "CONCATENATION",
    "MAX_POOL_2D", "AVERAGE_POOL_2D", "MEAN", "PAD", "RESHAPE", "SOFTMAX",
}


# ---- data ----------------------------------------------------------------------

def load_data():
    """The 8x8 digits as float in [0, 1], NHWC, split by class-stratified draw."""
    d = load_digits()
    x = (d.images / 16.0).astype(np.float32)[..., None]
    y = d.target.astype(np.uint8)
    return train_test_split(x, y, test_size=TEST_SIZE, stratify=y, random_state=SEED)


def upscale(x, size):
    """Bilinear, so that the larger nets see the same digits, only smoother."""
    if x.shape[1] == size:
        return x
    return tf.image.resize(x, (size, size), method="bilinear").numpy().astype(np.float32)


def augment(x, rng, reach):
    """Shift each picture by up to `reach` pixels, zeros moving in at the border."""
    n, h, w, _ = x.shape
    p = np.pad(x, ((0, 0), (reach, reach), (reach, reach), (0, 0)))
    out = np.empty_like(x)
    for i, (dy, dx) in enumerate(rng.integers(0, 2 * reach + 1, (n, 2))):
        out[i] = p[i, dy:dy + h, dx:dx + w]
    return out


# ---- networks --------------------------------------------------------------------
# Batch normalisation is used in training only: the converter folds it into the
# weights and biases of the convolution before it.

def conv_bn(x, ch, k, name, stride=1, padding="same", act="relu"):
    x = L.Conv2D(ch, k, strides=stride, padding=padding, use_bias=False, name=name)(x)
    x = L.BatchNormalization(momentum=0.9, name=name + "_bn")(x)
    if act == "relu":
        x = L.ReLU(name=name + "_relu")(x)
    elif act == "relu6":
        x = L.ReLU(6.0, name=name + "_relu6")(x)
    return x


def net_digits():
    """LeNet style: conv, pool, conv, pool, two dense layers."""
    i = L.Input((8, 8, 1), name="image")
    x = conv_bn(i, 12, 3, "c1")
    x = L.MaxPooling2D(2, name="p1")(x)                      # 4x4
    x = conv_bn(x, 24, 3, "c2")
    x = L.MaxPooling2D(2, name="p2")(x)                      # 2x2
    x = L.Flatten(name="flat")(x)                            # RESHAPE
    x = L.Dense(32, activation="relu", name="d1")(x)
    x = L.Dropout(0.1, name="drop")(x)                       # gone after training
    x = L.Dense(10, activation="softmax", name="d2")(x)
    return keras.Model(i, x, name="digits")


def net_dsnet():
    """MobileNet style: depthwise + pointwise pairs with ReLU6, two of them of
    stride 2 (SAME on an even size: one row and column of padding on the far side
    only), one with a depth multiplier of 2."""
    i = L.Input((24, 24, 1), name="image")
    x = conv_bn(i, 8, 3, "stem", stride=2, act="relu6")      # 12x12
    for n, (stride, mult, ch) in enumerate(
            [(1, 1, 16), (2, 1, 24), (1, 2, 32), (2, 1, 48), (1, 1, 48)]):
        x = L.DepthwiseConv2D(3, strides=stride, depth_multiplier=mult, padding="same",
                              use_bias=False, name=f"dw{n}")(x)
        x = L.BatchNormalization(momentum=0.9, name=f"dw{n}_bn")(x)
        x = L.ReLU(6.0, name=f"dw{n}_relu6")(x)
        x = conv_bn(x, ch, 1, f"pw{n}", act="relu6")
    x = L.GlobalAveragePooling2D(name="gap")(x)              # MEAN over 3x3
    x = L.Dense(10, activation="softmax", name="logits")(x)
    return keras.Model(i, x, name="dsnet")


def net_branch():
    """Branches and skips, so that several tensors live at once: an explicit PAD, two
    residual blocks (an identity skip, and a strided one with a 1x1 projection), and a
    four-way inception cell with 1x1, 3x3, average-pooled and max-pooled branches
    (pools with SAME padding), whose input is kept for a later skip of its own."""
    i = L.Input((16, 16, 1), name="image")
    # Lopsided padding (2 above, 1 below, 1 left, 2 right), then VALID.  With 1 above
    # and 2 below it would be what SAME means, and the converter would drop the PAD.
    x = L.ZeroPadding2D(((2, 1), (1, 2)), name="pad")(i)     # 19x19
    x = conv_bn(x, 12, 4, "stem", padding="valid")           # 16x16

    a = conv_bn(x, 12, 3, "r1a")
    a = conv_bn(a, 12, 3, "r1b", act=None)
    x = L.ReLU(name="r1_relu")(L.Add(name="r1_add")([x, a])) # ADD with a fused ReLU

    s = conv_bn(x, 16, 1, "r2skip", stride=2, act=None)
    a = conv_bn(x, 16, 3, "r2a", stride=2)                   # 8x8
    a = conv_bn(a, 16, 3, "r2b", act=None)
    x = L.Add(name="r2_add")([s, a])                         # ADD, linear

    b1 = conv_bn(x, 8, 1, "i1")
    b3 = conv_bn(conv_bn(x, 8, 1, "i3r"), 12, 3, "i3")
    ba = L.AveragePooling2D(3, strides=1, padding="same", name="iap")(x)
    ba = conv_bn(ba, 6, 1, "ia")
    bm = L.MaxPooling2D(3, strides=1, padding="same", name="imp")(x)
    bm = conv_bn(bm, 6, 1, "im")
    c = L.Concatenate(name="cat")([b1, b3, ba, bm])          # 8x8x32
    c = conv_bn(c, 16, 1, "mix", act=None)
    x = L.ReLU(name="skip_relu")(L.Add(name="skip_add")([x, c]))

    # Two poolings of one tensor, joined: a reduction branch without weights.
    m = L.MaxPooling2D(2, name="red_max")(x)
    v = L.AveragePooling2D(2, name="red_avg")(x)
    x = L.Concatenate(name="red_cat")([m, v])                # 4x4x32
    x = conv_bn(x, 32, 3, "last", padding="valid")           # 2x2
    x = L.Flatten(name="flat")(x)
    x = L.Dense(10, activation="softmax", name="logits")(x)
    return keras.Model(i, x, name="branch")


#       name      builder     size  epochs  shift
NETS = [("digits", net_digits, 8, 80, 1),
        ("dsnet", net_dsnet, 24, 45, 2),
        ("branch", net_branch, 16, 45, 1)]


def train(model, x, y, epochs, reach, rng):
    batch = 32
    steps = epochs * (-(-len(x) // batch))
    model.compile(optimizer=keras.optimizers.Adam(
                      keras.optimizers.schedules.CosineDecay(4e-3, steps)),
                  loss="sparse_categorical_crossentropy")
    for _ in range(epochs):
        # Order and shifts come from our own generator, not from Keras's.
        order = rng.permutation(len(x))
        model.fit(augment(x[order], rng, reach), y[order], batch_size=batch,
                  epochs=1, shuffle=False, verbose=0)


# ---- conversion ------------------------------------------------------------------

def convert(model, calibration=None):
    """TFLite bytes; full-integer (int8 in and out, per-channel weights) if there is
    calibration data.  A concrete function with the batch fixed at 1 keeps the graph
    free of dynamic dimensions and of SHAPE / STRIDED_SLICE / PACK chains."""
    shape = (1,) + tuple(model.input_shape[1:])

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="image")])
    def infer(image):
        return model(image, training=False)

    # Freeze first: else Keras 3's variables survive as VAR_HANDLE / READ_VARIABLE and
    # batch normalisation cannot be folded.
    frozen = convert_variables_to_constants_v2(infer.get_concrete_function())
    c = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
    if calibration is not None:
        c.optimizations = [tf.lite.Optimize.DEFAULT]
        c.representative_dataset = lambda: ([v[None]] for v in calibration)
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        c.inference_input_type = tf.int8
        c.inference_output_type = tf.int8
    return c.convert()


# ---- references ------------------------------------------------------------------

def interpreter(path):
    """The reference kernels, not the optimised ones: the int8 answers are the ones
    arenac has to meet bit for bit."""
    it = tf.lite.Interpreter(
        model_path=path, num_threads=1,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    return it


def run(it, x):
    it.set_tensor(it.get_input_details()[0]["index"], x)
    it.invoke()
    return it.get_tensor(it.get_output_details()[0]["index"]).copy()


def quantise(x, it):
    """Float pictures to the model's int8 input: round half to even, then saturate."""
    scale, zero = it.get_input_details()[0]["quantization"]
    q = np.rint(x.astype(np.float32) / np.float32(scale)) + zero
    return np.clip(q, -128, 127).astype(np.int8)


def extreme(shape, dtype, rng):
    """Set 2: far off the training data.  int8: the full range, every second value one
    of the two ends.  f32: large values of both signs."""
    if dtype == np.int8:
        x = rng.integers(-128, 128, shape).astype(np.int8)
        ends = rng.choice(np.array([-128, 127], np.int8), shape)
        return np.where(rng.random(shape) < 0.5, ends, x).astype(np.int8)
    return rng.uniform(-100, 100, shape).astype(np.float32)


def telling(out):
    """How much of the sums before it an output of softmax still shows: the entropy.
    A saturated answer (one class at 1, all others at 0) would hide most mistakes."""
    p = out.astype(np.float64)
    if out.dtype == np.int8:
        p = (p + 128) / 256
    p = np.maximum(p, 1e-30)
    return float(-(p * np.log(p)).sum())


def save(path, a):
    with open(path, "wb") as f:
        np.lib.format.write_array(f, np.ascontiguousarray(a), version=(1, 0),
                                  allow_pickle=False)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)))
    ap.add_argument("--only", default="")
    arg = ap.parse_args()
    only = [n for n in arg.only.split(",") if n]
    os.makedirs(arg.out, exist_ok=True)

    tx8, vx8, ty, vy = load_data()
    for index, (name, build, size, epochs, reach) in enumerate(NETS):
        if only and name not in only:
            continue
        # A seed per net, so that --only gives the same files as a full run.
        keras.backend.clear_session()
        keras.utils.set_random_seed(SEED + index)
        rng = np.random.default_rng(SEED + index)
        tx, vx = upscale(tx8, size), upscale(vx8, size)
        model = build()
        train(model, tx, ty, epochs, reach, rng)

        for kind in ("f32", "int8"):
            stem = os.path.join(arg.out, f"{name}_{kind}")
            blob = convert(model, tx[:300] if kind == "int8" else None)
            with open(stem + ".tflite", "wb") as f:
                f.write(blob)

            it = interpreter(stem + ".tflite")
            # _get_ops_details has no public twin; it only feeds the check and table.
            ops = Counter(o["op_name"] for o in it._get_ops_details()
                          if o["op_name"] != "DELEGATE")
            assert set(ops) <= ALLOWED_OPS, set(ops) - ALLOWED_OPS
            i, o = it.get_input_details(), it.get_output_details()
            want = np.int8 if kind == "int8" else np.float32
            if name == "branch":  # see net_branch
                assert ops["PAD"] == 1
            assert len(i) == len(o) == 1 and i[0]["dtype"] == o[0]["dtype"] == want
            assert all((t["shape_signature"] > 0).all() for t in it.get_tensor_details())

            x = quantise(vx, it) if kind == "int8" else vx
            out = np.concatenate([run(it, v[None]) for v in x])
            right = int((out.argmax(1) == vy).sum())

            # Set 0: the first held-out digit.  Set 1: the one the net is least sure of.
            # Set 2: of 200 extreme inputs, the one with the most telling answer.
            doubt = max(range(1, len(x)), key=lambda n: telling(out[n]))
            wild = max((extreme(x[0:1].shape, want, rng) for _ in range(200)),
                       key=lambda v: telling(run(it, v)))
            sets = [x[0:1], x[doubt:doubt + 1], wild]
            for s, v in enumerate(sets):
                # A fresh interpreter per set: nothing carries over.
                save(f"{stem}.in0.{s}.npy", v)
                save(f"{stem}.out0.{s}.npy", run(interpreter(stem + ".tflite"), v))
            if name == "digits" and kind == "int8":
                save(os.path.join(arg.out, "digits.test_x.npy"), x)
                save(os.path.join(arg.out, "digits.test_y.npy"), vy)
                save(os.path.join(arg.out, "digits.test_out.npy"), out)

            print(f"{name}_{kind}: {len(blob)} bytes, {right}/{len(vy)} = "
                  f"{100 * right / len(vy):.2f} %, input quantisation "
                  f"{i[0]['quantization']}, output {o[0]['quantization']}, "
                  f"set 0 is a {vy[0]}, set 1 a {vy[doubt]} "
                  f"(taken for a {out[doubt].argmax()})", flush=True)
            print("   " + ", ".join(f"{k} {n}" for k, n in sorted(ops.items())), flush=True)


if __name__ == "__main__":
    main()
