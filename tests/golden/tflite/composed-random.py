# operators that draw random numbers: with seeds in their options, without, and choices by logarithms
# arenac: check --dump-after infer
from tflite_bytes import *

SHAPE, X, COUNT = range(3)
tensors = [tensor("shape", I32, [2], i32(2) + i32(3)), tensor("x", F32, [2, 4]), tensor("count", I32, [], i32(5)),
           tensor("uniform", F32, [2, 3]), tensor("normal", F32, [2, 3]), tensor("again", F32, [2, 3]),
           tensor("choices", I64, [2, 5])]
SEEDS = 114, {0: i64(7), 1: i64(8)}
ops = [op("RANDOM_UNIFORM", [SHAPE], [3]), op("RANDOM_STANDARD_NORMAL", [SHAPE], [4], *SEEDS),
       op("RANDOM_STANDARD_NORMAL", [SHAPE], [5], *SEEDS), op("MULTINOMIAL", [X, COUNT], [6])]
write(tensors, ops, [X], [3, 4, 5, 6])
