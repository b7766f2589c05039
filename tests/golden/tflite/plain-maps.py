# operators that are one of ours: element by element
# arenac: check --dump-after infer
from tflite_bytes import *

ONE = """FLOOR LOGISTIC RELU RELU_N1_TO_1 RELU6 RELU_0_TO_1 TANH EXP NEG SIN COS LOG SQRT RSQRT SQUARE ABS CEIL ELU
ROUND HARD_SWISH SIGN ZEROS_LIKE LEAKY_RELU GELU LOG_SOFTMAX SOFTMAX L2_NORMALIZATION""".split()
TWO = "ADD SUB MUL DIV MAXIMUM MINIMUM POW FLOOR_DIV FLOOR_MOD SQUARED_DIFFERENCE PRELU".split()
COMPARE = "LESS GREATER GREATER_EQUAL LESS_EQUAL EQUAL NOT_EQUAL".split()
OPTIONS = {"LEAKY_RELU": (75, {0: f32(0.25)}), "GELU": (116, {0: i8(1)}), "SOFTMAX": (9, {0: f32(1)}),
           "ADD": (11, {0: i8(1)}), "SUB": (28, {0: i8(2)}), "MUL": (21, {0: i8(3)}), "DIV": (29, {})}
tensors = [tensor("x", F32, [2, 3]), tensor("y", F32, [2, 3]), tensor("p", BOOL, [2, 3]), tensor("q", BOOL, [2, 3]),
           tensor("i", I32, [2, 3]), tensor("j", I32, [2, 3]), tensor("slope", F32, [3], f32(0.5) * 3)]
ops, outs = [], []


def add(name, ins, dtype, shape=(2, 3), **more):
    outs.append(len(tensors))
    tensors.append(tensor(name.lower(), dtype, shape, **more))
    ops.append(op(name, ins, outs[-1:], *OPTIONS.get(name, ())))


for name in ONE:
    add(name, [0], F32)
for name in TWO:
    add(name, [0, 6 if name == "PRELU" else 1], F32)
for name in COMPARE:
    add(name, [0, 1], BOOL)
for name in ("LOGICAL_OR", "LOGICAL_AND"):
    add(name, [2, 3], BOOL)
add("LOGICAL_NOT", [2], BOOL)
add("SELECT", [2, 0, 1], F32)
add("SELECT_V2", [2, 0, 6], F32)
add("CAST", [0], I32)
add("BITCAST", [0], I32)
add("BITWISE_XOR", [4, 5], I32)
add("RIGHT_SHIFT", [4, 5], I32)
add("QUANTIZE", [0], I8, scale=0.5, zero=3)
add("DEQUANTIZE", [outs[-1]], F32)
write(tensors, ops, list(range(6)), outs)
