# operators that are one of ours: branches and loops
# arenac: check --dump-after infer
from tflite_bytes import *



def x():
    return tensor("x", F32, [2, 3])


def y():
    return tensor("y", F32, [2, 3])


def n():
    return tensor("n", I32, [])


write([tensor("p", BOOL, []), x(), n(), tensor("chosen", F32, [2, 3]), tensor("count", I32, []), y()],
      [op("IF", [0, 1], [3], 92, {0: i32(1), 1: i32(2)}), op("WHILE", [2, 3], [4, 5], 93, {0: i32(3), 1: i32(4)})],
      [0, 1, 2], [4, 5],
      [([x(), y()], [op("NEG", [0], [1])], [0], [1]),
       ([x(), y()], [op("EXP", [0], [1])], [0], [1]),
       ([n(), x(), tensor("five", I32, [], i32(5)), tensor("again", BOOL, [])], [op("LESS", [0, 2], [3])], [0, 1], [3]),
       ([n(), x(), tensor("one", I32, [], i32(1)), tensor("more", I32, []), y()],
        [op("ADD", [0, 2], [3], 11, {}), op("SIN", [1], [4])], [0, 1], [3, 4])])
