"""model.py - a small network for 1x1x8x8 pictures, as a framework writes it: model.onnx, an input x.npy and what ONNX
Runtime makes of it, y.npy. With PyTorch: torch.onnx.export(net, x, "model.onnx", input_names=["x"], ...) instead."""
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)


def weight(name, *shape):
    return numpy_helper.from_array(rng.uniform(-0.4, 0.4, shape).astype(np.float32), name)


nodes = [
    helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
    helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Flatten", ["p1"], ["f"], "flatten"),
    helper.make_node("Gemm", ["f", "w2", "b2"], ["logits"], "dense", transB=1),
    helper.make_node("Softmax", ["logits"], ["y"], "softmax", axis=1),
]
graph = helper.make_graph(
    nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
    [weight("w1", 8, 1, 3, 3), weight("b1", 8), weight("w2", 10, 128), weight("b2", 10)])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
model.ir_version = 8
onnx.checker.check_model(model)
onnx.save(model, "model.onnx")

x = rng.uniform(0, 1, (1, 1, 8, 8)).astype(np.float32)
y, = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})
np.save("x.npy", x)
np.save("y.npy", y)
x.tofile("x.bin")
print("class", int(y.argmax()))
