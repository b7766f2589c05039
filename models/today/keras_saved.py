"""SavedModels as Keras and TensorFlow export them, with variables, and what TensorFlow computes.

    keras_saved.py DIR [SEED]        writes DIR/NAME/, DIR/NAME.xI.npy, DIR/NAME.yI.npy; needs tensorflow
"""
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers as L  # noqa: E402

out, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
keras.utils.set_random_seed(seed)
rng = np.random.default_rng(seed)


def floats(*dims):
    return rng.standard_normal(dims).astype(np.float32)


def words(n):
    return rng.integers(1, 50, (1, n)).astype(np.int32)


def chain(shape, *layers, dtype="float32"):
    return keras.Sequential([L.Input(shape, dtype=dtype), *layers])


def attention():
    x = given = L.Input((10, 16))
    for _ in range(2):
        y = L.LayerNormalization()(x)
        x = L.Add()([x, L.MultiHeadAttention(4, 4)(y, y)])
        y = L.Dense(32, activation="gelu")(L.LayerNormalization()(x))
        x = L.Add()([x, L.Dense(16)(y)])
    return keras.Model(given, L.Dense(4)(L.GlobalAveragePooling1D()(x)))


def two():
    a, b = L.Input((5,), name="left"), L.Input((7,), name="right")
    y = L.Concatenate()([L.Dense(4, activation="tanh")(a), L.Dense(4, activation="elu")(b)])
    return keras.Model([a, b], {"p": L.Dense(3)(y), "q": L.Dense(2, activation="sigmoid")(y)})


def upscale():
    x = given = L.Input((16, 16, 3))
    x = L.ZeroPadding2D()(L.UpSampling2D(interpolation="bilinear")(L.Conv2DTranspose(6, 3, strides=2, padding="same")(x)))
    return keras.Model(given, L.Conv2D(3, 3, dilation_rate=2)(L.GroupNormalization(3)(x)))


def normalised():
    n = L.Normalization()
    n.adapt(rng.standard_normal((50, 6)) * 3 + 1)
    return chain((6,), n, L.Dense(8, activation="swish"), L.UnitNormalization(), L.PReLU(), L.Dense(1))


def mixed():
    a, b = L.Input((5, 8)), L.Input((7, 8))
    return keras.Model([a, b], L.Concatenate()([L.Attention()([a, b]), L.AdditiveAttention()([a, b])]))


apps = keras.applications
MODELS = {
    "cnn": (lambda: chain((28, 28, 1), L.Conv2D(8, 3, padding="same"), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(),
                          L.DepthwiseConv2D(3, padding="same"), L.SeparableConv2D(12, 3, strides=2), L.LeakyReLU(0.1),
                          L.GlobalAveragePooling2D(), L.Dropout(.3), L.Dense(10, activation="softmax")), [floats(1, 28, 28, 1)]),
    "lstm": (lambda: chain((12, 6), L.LSTM(8, return_sequences=True), L.LSTM(5), L.Dense(3)), [floats(1, 12, 6)]),
    "gru": (lambda: chain((9, 4), L.Bidirectional(L.GRU(7, return_sequences=True)), L.GRU(5), L.Dense(3)), [floats(1, 9, 4)]),
    "masked": (lambda: chain((10,), L.Embedding(50, 8, mask_zero=True), L.LSTM(6), L.Dense(2), dtype="int32"),
               [np.int32([[3, 4, 5, 9, 7, 0, 0, 0, 0, 0]])]),
    "words": (lambda: chain((10,), L.Embedding(50, 8), L.Conv1D(6, 3, activation="gelu"), L.GlobalMaxPooling1D(), L.Dense(2),
                            dtype="int32"), [words(10)]),
    "attention": (attention, [floats(1, 10, 16)]),
    "mixed": (mixed, [floats(1, 5, 8), floats(1, 7, 8)]),
    "two": (two, [floats(1, 5), floats(1, 7)]),
    "upscale": (upscale, [floats(1, 16, 16, 3)]),
    "normalised": (normalised, [floats(1, 6)]),
    "conv_lstm": (lambda: chain((4, 8, 8, 2), L.ConvLSTM2D(3, 3, padding="same"), L.Flatten(), L.Dense(3)), [floats(1, 4, 8, 8, 2)]),
    "conv_3d": (lambda: chain((6, 8, 8, 2), L.Conv3D(4, 3), L.MaxPooling3D(2), L.Flatten(), L.Dense(3)), [floats(1, 6, 8, 8, 2)]),
    "mobilenet": (lambda: apps.MobileNetV3Small((96, 96, 3), weights=None, classes=10), [floats(1, 96, 96, 3) * 50 + 120]),
    "efficientnet": (lambda: apps.EfficientNetB0(input_shape=(64, 64, 3), weights=None, classes=10), [floats(1, 64, 64, 3) * 50 + 120]),
    "resnet": (lambda: apps.ResNet50V2(input_shape=(64, 64, 3), weights=None, classes=10), [floats(1, 64, 64, 3)]),
}


class Module(tf.Module):
    """Variables of one name, of several types, and behind a branch."""

    def __init__(self):
        self.a, self.b = tf.Variable(floats(4, 3), name="w"), tf.Variable(floats(3, 2), name="w")
        self.half, self.bf16 = tf.Variable(floats(2).astype(np.float16)), tf.Variable(tf.cast(floats(2), tf.bfloat16))
        self.flags, self.rows = tf.Variable([True, False]), tf.Variable(np.arange(5, dtype=np.int64))

    @tf.function(input_signature=[tf.TensorSpec([1, 4], name="x")])
    def __call__(self, x):
        y = x @ self.a @ self.b + tf.cast(self.half, tf.float32) + tf.cast(self.bf16, tf.float32)
        y = tf.cond(tf.reduce_sum(y) > 0, lambda: y + self.b[0], lambda: y * self.b[1])
        return {"y": tf.where(self.flags, y, -y), "z": tf.gather(self.rows, tf.argmax(y, 1))}


class Counted(tf.Module):
    """Results as large as the data says."""

    @tf.function(input_signature=[tf.TensorSpec([20, 4], name="a_boxes"), tf.TensorSpec([20], name="b_scores")])
    def __call__(self, a_boxes, b_scores):
        kept = tf.image.non_max_suppression(a_boxes, b_scores, 6, .4, .2)
        some = tf.boolean_mask(b_scores, b_scores > .5)
        value, place, count = tf.unique_with_counts(tf.cast(b_scores * 9, tf.int32))
        return {"a": tf.gather(a_boxes, kept), "b": some * 2, "c": tf.reduce_sum(some), "d": tf.where(a_boxes > 5), "e": value,
                "f": place, "g": count, "h": tf.shape(kept)}


def version_1(folder, x):
    """Reference and resource variables of TensorFlow 1."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as g, v1.Session(graph=g) as s:
        given = v1.placeholder(tf.float32, [1, 4], "x")
        w = v1.get_variable("w", initializer=floats(4, 3), use_resource=False)
        b = v1.get_variable("b", initializer=floats(3), use_resource=True)
        y = tf.nn.relu(tf.matmul(given, w) + b)
        s.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(s, str(folder), {"x": given}, {"y": y})
        return [s.run(y, {given: x})]


def computed(folder, given):
    """What the signature makes of the inputs, both in the order of their names."""
    f = tf.saved_model.load(str(folder)).signatures["serving_default"]
    names = sorted(f.structured_input_signature[1])
    r = f(**{n: tf.constant(x) for n, x in zip(names, given)})
    return [r[n].numpy() for n in sorted(r)]


def save(name, given, results):
    for kind, arrays in (("x", given), ("y", results)):
        for i, a in enumerate(arrays):
            np.save(out / f"{name}.{kind}{i}.npy", a)
    print(name)


out.mkdir(parents=True, exist_ok=True)
for name, (make, given) in MODELS.items():
    model = make()
    for v in model.variables:  # as after training: no zeros and ones
        if v.path.split("/")[-1] in ("gamma", "beta", "bias", "moving_mean", "moving_variance"):
            v.assign(rng.uniform(.2, 1.3, v.shape))
    model.export(str(out / name), verbose=False)
    save(name, given, computed(out / name, given))
    if name in ("cnn", "lstm", "attention"):
        tf.saved_model.save(model, str(out / (name + "_objects")))
        save(name + "_objects", given, computed(out / (name + "_objects"), given))
x = floats(1, 4)
module = Module()
tf.saved_model.save(module, str(out / "module"), signatures=module.__call__)
save("module", [x], computed(out / "module", [x]))
corner = rng.uniform(0, 10, (20, 2))
boxes = np.float32(np.concatenate([corner, corner + rng.uniform(1, 5, (20, 2))], 1))
given = [boxes, np.float32(rng.random(20))]
counted = Counted()
tf.saved_model.save(counted, str(out / "counted"), signatures=counted.__call__)
save("counted", given, computed(out / "counted", given))
save("version_1", [x], version_1(out / "version_1", x))
