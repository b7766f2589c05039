# words of attributes: an unknown one, and two that are missing although ONNX has no default for them
from onnx_bytes import *

pool = node("MaxPool", ["x"], ["p"], attr_ints("kernel_shape", [2, 2]) + attr_word("auto_pad", "SAME"))
shift = node("BitShift", ["i", "i"], ["s"])
grams = attr_ints("ngram_counts", [0]) + attr_ints("ngram_indexes", [0]) + attr_ints("pool_int64s", [2])
counts = node("TfIdfVectorizer", ["i"], ["t"], grams + attr_int("max_gram_length", 1))
write(model(graph([pool, shift, counts], [("x", F32, [1, 1, 4, 4]), ("i", I64, [4])],
                  [("p", F32, [1, 1, 3, 3]), ("s", I64, [4]), ("t", F32, [1])])))
