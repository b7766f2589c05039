"""TFLite files of the single layers of bench/layers.py, converted by TensorFlow from the layer's ONNX model.

    tflite = layers_tflite.convert("layer.onnx")          bytes, or None and a message where there is no such layer

Convolutions get channels last, as TFLite has them, input and output too; pads are SAME if that gives as many results,
else a separate PAD. QuantizeLinear and DequantizeLinear go: the layer is quantised by the converter, int8 input and
output, weights per channel. Dynamic quantisation is TFLite's (a float input, int8 weights). Needs tensorflow and onnx.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tensorflow as tf  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

ACTS = {"HardSwish": lambda x: x * tf.nn.relu6(x + 3.0) * (1.0 / 6), "Sigmoid": tf.sigmoid,
        "Gelu": lambda x: tf.nn.gelu(x, approximate=False), "Relu": tf.nn.relu}


class Missing(Exception):
    """TFLite has no such layer, or TensorFlow does not write it as one."""


def last(x):
    """[N,C,...] with channels last."""
    return np.moveaxis(x, 1, -1)


def spread(values, to):
    """A constant of one value for each channel along the first dimension of `to`."""
    return np.reshape(values, (-1,) + (1,) * (to.ndim - 1)) if np.ndim(values) else values


def padded(x, pads, k, strides, dilations):
    """x with what SAME or VALID does not add, and that word."""
    size = list(x.shape[1:-1])
    n = len(size)
    reach = [(a - 1) * d + 1 for a, d in zip(k, dilations)]
    out = [(s + pads[i] + pads[i + n] - r) // t + 1 for i, (s, r, t) in enumerate(zip(size, reach, strides))]
    if not any(pads):
        return x, "VALID"
    if out == [-(-s // t) for s, t in zip(size, strides)]:
        return x, "SAME"
    return tf.pad(x, [[0, 0]] + [[pads[i], pads[i + n]] for i in range(n)] + [[0, 0]]), "VALID"


def convolution(x, w, bias, a):
    k = w.shape[2:]
    strides, dilations = a.get("strides", [1] * len(k)), a.get("dilations", [1] * len(k))
    groups, one = a.get("group", 1), len(k) == 1
    pads = list(a.get("pads", [0] * 2 * len(k)))
    if one:  # a row of height 1
        x, w, k = tf.expand_dims(x, 1), w[:, :, None], (1,) + tuple(k)
        strides, dilations, pads = [1] + list(strides), [1] + list(dilations), [0, pads[0], 0, pads[1]]
    x, padding = padded(x, pads, k, strides, dilations)
    if len(k) == 3:
        if groups > 1:
            raise Missing("grouped Conv3D")
        y = tf.nn.conv3d(x, tf.constant(np.moveaxis(w, (0, 1), (-1, -2))), [1] + list(strides) + [1], padding)
    elif groups > 1 and w.shape[1] == 1 and groups == x.shape[-1]:
        y = tf.nn.depthwise_conv2d(x, tf.constant(np.moveaxis(w, (0, 1), (-2, -1))), [1] + list(strides) + [1],
                                   padding, dilations=dilations)
    else:
        y = tf.nn.conv2d(x, tf.constant(np.moveaxis(w, (0, 1), (-1, -2))), strides, padding, dilations=dilations)
    y = tf.nn.bias_add(y, bias)
    return tf.squeeze(y, 1) if one else y


def transposed(x, w, bias, a):
    if any(a.get("pads", [0])):
        raise Missing("ConvTranspose with pads")
    k, strides = w.shape[2:], a.get("strides", [1, 1])
    size = [(x.shape[1 + i] - 1) * strides[i] + k[i] for i in range(2)]
    y = tf.nn.conv2d_transpose(x, tf.constant(np.moveaxis(w, (0, 1), (-1, -2))), [x.shape[0]] + size + [w.shape[1]],
                               strides, "VALID")
    return tf.nn.bias_add(y, bias)


class Layer:
    """The nodes of one layer as TensorFlow operators; `image`: channels were second and are last."""

    def __init__(self, model):
        self.graph = model.graph
        self.const = {w.name: numpy_helper.to_array(w) for w in self.graph.initializer}
        ops = [n.op_type for n in self.graph.node]
        self.image = "Conv" in ops or "ConvTranspose" in ops
        self.quantised = "QuantizeLinear" in ops
        self.dynamic = "DynamicQuantizeLinear" in ops
        if "MatMulInteger" in ops and not self.dynamic:
            raise Missing("MatMulInteger")
        x = self.graph.input[0].type.tensor_type
        shape = [d.dim_value for d in x.shape.dim]
        self.shape = shape[:1] + shape[2:] + shape[1:2] if self.image else shape

    def node(self, n, v):
        op, a = n.op_type, {x.name: helper.get_attribute_value(x) for x in n.attribute}
        x = [v.get(i, self.const.get(i)) for i in n.input]
        if op in ("Conv", "ConvTranspose"):
            return [(convolution if op == "Conv" else transposed)(x[0], x[1], x[2], a)]
        if op == "Concat":
            return [tf.concat(x, -1 if self.image else a["axis"])]
        if op == "DequantizeLinear":  # of the input: its own values; of a constant: the numbers
            if n.input[0] in v:
                return [x[0]]
            return [(np.float32(x[0]) * spread(x[1], x[0])).astype(np.float32)]
        if op == "QuantizeLinear":
            return [x[0]]
        if op == "DynamicQuantizeLinear":
            return [x[0], np.float32(1), None]
        if op in ("MatMul", "MatMulInteger"):
            return [tf.matmul(x[0], tf.constant(np.float32(x[1])) if n.input[1] in self.const else x[1])]
        if op == "Gemm":
            return [tf.nn.bias_add(tf.matmul(x[0], x[1], transpose_b=bool(a.get("transB"))), x[2])]
        if op in ("Add", "Mul"):
            return [x[0] + x[1] if op == "Add" else x[0] * x[1]]
        if op == "Cast":
            return [x[0]]
        if op in ACTS:
            return [ACTS[op](x[0])]
        if op == "Softmax":
            return [tf.nn.softmax(x[0], a["axis"])]
        if op == "Reshape":
            return [tf.reshape(x[0], x[1])]
        if op == "Transpose":
            return [tf.transpose(x[0], a["perm"])]
        if op == "Split":
            return tf.split(x[0], a["num_outputs"], a["axis"])
        if op == "Squeeze":
            return [tf.squeeze(x[0], list(x[1]))]
        raise Missing(op)

    def run(self, x):
        v = {self.graph.input[0].name: x}
        for n in self.graph.node:
            v.update(zip(n.output, self.node(n, v)))
        return v[self.graph.output[0].name]


def convert(path):
    try:
        layer = Layer(onnx.load(path))
        run = tf.function(layer.run, input_signature=[tf.TensorSpec(layer.shape, tf.float32)], autograph=False)
        c = tf.lite.TFLiteConverter.from_concrete_functions([run.get_concrete_function()], run)
        if layer.quantised or layer.dynamic:
            c.optimizations = [tf.lite.Optimize.DEFAULT]
        if layer.quantised:
            random = np.random.RandomState(1)
            c.representative_dataset = lambda: ([random.uniform(-2.5, 2.5, layer.shape).astype(np.float32)]
                                                for _ in range(2))
            c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
            c.inference_input_type = c.inference_output_type = tf.int8
        return c.convert()
    except Missing as e:
        print("%s: not in TFLite: %s" % (os.path.basename(path), e))
    except Exception as e:  # noqa: BLE001  (the converter raises many kinds)
        print("%s: not converted: %s" % (os.path.basename(path), str(e).strip().split("\n")[0][:200]))
    return None
