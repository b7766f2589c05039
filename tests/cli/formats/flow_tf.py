"""Data-dependent loops and branches, and computed sizes, as TensorFlow exports them: While, If and Case as
functions (version 2) and between Enter, Exit, Switch and Merge (version 1); some fixed, some random. Compared with
TensorFlow.

    flow_tf.py ARENAC DIR BACKEND[,BACKEND..] [RANDOM [SEED]]
"""
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

arenac, out, backends = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(",")
many, seed = int(sys.argv[4]) if len(sys.argv) > 4 else 12, int(sys.argv[5]) if len(sys.argv) > 5 else 0
rng = np.random.default_rng(5)


def floats(*dims):
    return rng.standard_normal(dims).astype(np.float32)


def number(v):
    return np.array(v, np.int32)


W = floats(8, 8) * 0.5
K = floats(3, 3, 4, 4) * 0.2


def loop(cond, body, *values):
    return tf.while_loop(cond, body, values)


def largest(v):
    return tf.reduce_max(tf.abs(v))


# ---------------------------------------------------------------- fixed


def until(x):
    return loop(lambda i, v: largest(v) < 50.0, lambda i, v: (i + 1, v * 1.5 + tf.tanh(v)), tf.constant(0), x)


def capped(x, limit):
    def again(i, v):
        return tf.logical_and(i < limit, tf.reduce_sum(v) < 1000.0)

    return loop(again, lambda i, v: (i + 1, tf.matmul(v, W) + x), tf.constant(0), x)


def decode(x):
    """Words until a certain one, in an array."""

    def again(i, done, s, words):
        return tf.logical_and(i < 12, tf.logical_not(done))

    def once(i, done, s, words):
        s = tf.tanh(tf.matmul(s, W))
        k = tf.argmax(s, axis=1, output_type=tf.int32)[0]
        return i + 1, tf.equal(k, 3), s, words.write(i, k)

    words = tf.TensorArray(tf.int32, 12, element_shape=())
    i, _, s, words = loop(again, once, tf.constant(0), tf.constant(False), x, words)
    return i, s, words.stack()


def states(x):
    """The type of an array is known when its first element is written."""

    def again(i, s, all_of):
        return tf.logical_and(i < 20, tf.reduce_sum(s * s) > tf.cast(i, tf.float32) * 0.01 + 0.1)

    def once(i, s, all_of):
        s = tf.tanh(tf.matmul(s, W)) * 0.9
        return i + 1, s, all_of.write(i, s)

    i, s, all_of = loop(again, once, tf.constant(0), x, tf.TensorArray(tf.float32, 20))
    return i, s, all_of.stack()


def rows(x, n):
    def once(i, sum_of):
        return i + 1, sum_of + x[i] * tf.cast(i + 1, tf.float32)

    return loop(lambda i, _: i < n, once, tf.constant(0), tf.zeros((4,)))[1]


def slices(x, n):
    def once(i, sum_of):
        return i + 1, sum_of + tf.slice(x, [i, 0], [2, 4])

    return loop(lambda i, _: i < n, once, tf.constant(0), tf.zeros((2, 4)))[1]


def windows(x, n):
    return loop(lambda i, _: i < n, lambda i, a: (i + 1, a + x[i : i + 2, 1:3]), tf.constant(0), tf.zeros((2, 2)))[1]


def elements(x, n):
    array = tf.TensorArray(tf.float32, 6).unstack(x)
    return loop(lambda i, _: i < n, lambda i, a: (i + 1, a * 0.5 + array.read(i)), tf.constant(0), tf.zeros((4,)))[1]


def swap(x, y):
    return loop(lambda a, b: tf.reduce_sum(a) < 100.0, lambda a, b: (b * 2.0 + 1.0, a), x, y)


def branch(x, c):
    return tf.cond(c, lambda: tf.nn.relu(tf.nn.conv2d(x, K, 1, "SAME")), lambda: x * 2.0 - 1.0)


def branch_of_two(x):
    return tf.cond(
        tf.reduce_sum(x) > 0.0, lambda: (tf.matmul(x, W), tf.constant(1)), lambda: (x - 1.0, tf.constant(2))
    )


def branch_used_twice(x, c):
    y = tf.cond(c, lambda: tf.matmul(x, W), lambda: x)
    return tf.matmul(y, W), y


def branch_of_two_lengths(x, c):
    return tf.cond(c, lambda: x[:3], lambda: x[:5] * 2.0)


def branch_shared(x, c):
    def yes():
        y = tf.matmul(x, W)
        return y, tf.tanh(y)

    return tf.cond(c, yes, lambda: (x, x * 0.5))


def case(x, k):
    return tf.switch_case(k, [lambda: tf.matmul(x, W), lambda: x + 1.0, lambda: tf.matmul(tf.tanh(x), W) * 3.0])


def branch_in_loop(x):
    def once(i, v):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.matmul(v, W) * 2.0, lambda: v + 1.0)

    return loop(lambda i, v: tf.reduce_max(v) < 40.0, once, tf.constant(0), x)


def loop_in_branch(x, c):
    return tf.cond(c, lambda: loop(lambda v: tf.reduce_max(v) < 10.0, lambda v: (v * 1.3 + 0.1,), x)[0], lambda: x)


def branch_in_branch(x, c, k):
    def inner():
        return tf.cond(k > 2, lambda: tf.matmul(x, W), lambda: x + tf.gather(x, k))

    def outer():
        return tf.cond(k > 5, lambda: tf.exp(x), lambda: tf.matmul(x, W))

    return tf.cond(c, outer, lambda: x + tf.reduce_sum(inner()))


def loop_in_loop(x):
    def once(i, v):
        return i + 1, loop(lambda u: largest(u) < 5.0, lambda u: (u * 1.7 + 0.01,), v)[0] * 0.3

    return loop(lambda i, v: tf.logical_and(i < 5, tf.reduce_sum(v) < 100.0), once, tf.constant(0), x)


def cuts(x, i):
    return x[i:] * 2.0, x[:, :i], x[1:i, None, 2]


def ranges(x):
    n = tf.reduce_sum(tf.cast(x > 0, tf.int32))
    return tf.range(n, name="r"), tf.fill([2, n], 3.5, name="f"), tf.broadcast_to([[1.0], [2.0]], [2, n], name="b")


def positive(x):
    return tf.where(x[:, 0] > 0)[:, 0]


def loop_over_some(x):
    at = positive(x)

    def once(i, sum_of):
        return i + 1, sum_of * 0.5 + tf.gather(x, at[i]) * tf.reduce_mean(tf.gather(x, at))

    return loop(lambda i, _: i < tf.size(at), once, tf.constant(0), tf.zeros((4,)))


def branch_of_some(x, c):
    few = tf.gather(x, positive(x))
    y = tf.cond(c, lambda: few[:2] * 2.0, lambda: tf.exp(few))
    return y, tf.reduce_sum(y), tf.cond(tf.size(few) > 9, lambda: tf.reduce_mean(few, 0), lambda: few[-1])


def along_some(x):
    few = tf.gather(x[:, 1], positive(x))
    steps = few[1:] - few[:-1]
    return tf.nn.softmax(few), tf.reduce_mean(few), tf.argmax(few), tf.cumsum(few), steps, tf.concat([few, steps], 0)


def few_greatest(x):
    n = tf.reduce_sum(tf.cast(x[:, 0] > 0, tf.int32))
    best, at = tf.math.top_k(x[:, 1], n)
    place = tf.where(x > 0.5)
    return best, at, tf.range(n), tf.range(tf.minimum(n, 4)), tf.scatter_nd(place, tf.gather_nd(x, place), [6, 4])


def boxes_of_some(x, n):
    corner = tf.abs(x)
    box, score = tf.concat([corner[:, :2], corner[:, :2] + corner[:, 2:] + 0.1], 1), x[:, 0]
    at = positive(x)
    kept = tf.image.non_max_suppression(tf.gather(box, at), tf.gather(score, at), n, 0.3)
    return kept, tf.gather(tf.gather(box, at), kept)


# ---------------------------------------------------------------- of as many elements as data decides


def open_loop(cond, body, *values, open_dims=()):
    """A loop whose values may change their sizes; open_dims: value and dimension of each that does."""
    invariants = []
    for k, v in enumerate(values):
        shape = np.array(tf.convert_to_tensor(v).shape.as_list(), dtype=object)
        for d in [d for i, d in open_dims if i == k]:
            shape[d] = None
        invariants.append(tf.TensorShape(list(shape)))
    return tf.while_loop(cond, body, values, shape_invariants=tuple(invariants))


def filter_in_loop(x):
    def once(i, v):
        v = v - 0.1
        return i + 1, tf.boolean_mask(v, v[:, 0] > -0.5)

    y = tf.boolean_mask(x, x[:, 1] > -1.0)
    i, y = open_loop(lambda i, v: tf.logical_and(tf.shape(v)[0] > 2, i < 9), once, 0, y, open_dims=[(1, 0)])
    return i, y, tf.reduce_sum(y, 0)


def words(x):
    """Greedy: one more word each time, until a certain one."""

    def again(i, ids, s):
        return tf.logical_and(i < 10, tf.not_equal(ids[-1], 3))

    def once(i, ids, s):
        s = tf.tanh(tf.matmul(s, W) + tf.gather(W, tf.reshape(ids[-1], [1])))
        k = tf.argmax(tf.matmul(s, W), 1, output_type=tf.int32)
        return i + 1, tf.concat([ids, k], 0), s

    return open_loop(again, once, 0, tf.constant([1]), x, open_dims=[(1, 0)])[1]


def beam(x):
    def once(i, seq, score, over):
        p = tf.nn.log_softmax(tf.matmul(tf.gather(W, seq[:, -1]), W)) + score[:, None]
        score, at = tf.math.top_k(tf.reshape(p, [-1]), 3)
        seq = tf.concat([tf.gather(seq, at // 8), (at % 8)[:, None]], 1)
        return i + 1, seq, score, tf.reduce_all(tf.equal(at % 8, 2))

    def again(i, seq, score, over):
        return tf.logical_and(i < 6, tf.logical_not(over))

    return open_loop(again, once, 0, tf.zeros((3, 1), tf.int32), x[:3, 0], tf.constant(False), open_dims=[(1, 1)])[1:3]


def pads(x, n):
    def once(i, y):
        return i + 1, y + tf.pad(x[i : i + 1], [[i, 5 - i], [0, 0]])

    def longer(i, y):
        return i + 1, tf.pad(y, [[0, 1], [0, 0]]) + 0.5

    return (
        loop(lambda i, _: i < n, once, tf.constant(0), tf.zeros((6, 4)))[1],
        open_loop(lambda i, _: tf.logical_and(i < n, i < 5), longer, 0, x[:1], open_dims=[(1, 0)])[1],
    )


def tiles(x, n):
    few = tf.gather(x, positive(x))
    return tf.tile(x[:1, None], [1, n, 2], name="t"), tf.tile(few, [2, 1]), tf.pad(few, [[1, 2], [0, 1]])


def set_rows(x, n):
    def once(i, y):
        return i + 1, tf.concat([y[:i], y[i : i + 1] * 2.0 + 1.0, y[i + 1 :]], 0)

    return open_loop(lambda i, _: i < n, once, 0, x, open_dims=[(1, 0)])[1]


def arrays_of_some(x):
    few = tf.gather(x, positive(x))
    each = tf.map_fn(lambda r: tf.tanh(r) * tf.reduce_max(r), few)
    return each, tf.scan(lambda a, r: a * 0.5 + r, few, initializer=tf.zeros(4)), each + few


def grown_array(x):
    def once(i, s, a):
        return i + 1, s * 1.5, a.write(i, s)

    def capped_at(most):
        a = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=x.shape, clear_after_read=False)
        return loop(lambda i, s, a: tf.logical_and(i < most, largest(s) < 9.0), once, tf.constant(0), x, a)

    i, _, a = capped_at(20)
    return i, a.stack(), a.concat()


def array_of_n(x, n):
    a = tf.TensorArray(tf.float32, n, element_shape=(4,), name="a")
    return loop(lambda i, _: i < n, lambda i, a: (i + 1, a.write(i, x[i] * 2.0)), tf.constant(0), a)[1].stack()


YES, NO = np.array(True), np.array(False)
CASES = {
    "until": (until, floats(4, 64)),
    "capped": (capped, floats(2, 8), number(7)),
    "decode": (decode, floats(1, 8)),
    "states": (states, floats(1, 8)),
    "rows": (rows, floats(6, 4), number(5)),
    "slices": (slices, floats(6, 4), number(4)),
    "windows": (windows, floats(6, 4), number(4)),
    "elements": (elements, floats(6, 4), number(5)),
    "swap": (swap, np.abs(floats(3, 2)), np.abs(floats(3, 2))),
    "branch_yes": (branch, floats(1, 12, 12, 4), YES),
    "branch_no": (branch, floats(1, 12, 12, 4), NO),
    "branch_of_two": (branch_of_two, floats(16, 8)),
    "branch_used_twice": (branch_used_twice, floats(64, 8), YES),
    "branch_of_two_lengths": (branch_of_two_lengths, floats(6, 4), YES),
    "branch_shared": (branch_shared, floats(64, 8), YES),
    "case_0": (case, floats(32, 8), number(0)),
    "case_1": (case, floats(32, 8), number(1)),
    "case_9": (case, floats(32, 8), number(9)),
    "branch_in_loop": (branch_in_loop, floats(16, 8)),
    "loop_in_branch": (loop_in_branch, np.abs(floats(3, 5)), YES),
    "loop_in_branch_no": (loop_in_branch, -np.abs(floats(3, 5)), NO),
    "branch_in_branch": (branch_in_branch, floats(32, 8), NO, number(1)),
    "branch_in_branch_far": (branch_in_branch, floats(32, 8), YES, number(99)),
    "loop_in_loop": (loop_in_loop, np.abs(floats(3, 5))),
    "cuts": (cuts, floats(4, 4), number(3)),
    "ranges": (ranges, floats(3, 4)),
    "loop_over_some": (loop_over_some, floats(6, 4)),
    "branch_of_some": (branch_of_some, np.abs(floats(6, 4)) * np.float32([[1], [-1], [1], [1], [-1], [1]]), YES),
    "branch_of_some_no": (branch_of_some, np.abs(floats(6, 4)) * np.float32([[1], [-1], [1], [1], [-1], [1]]), NO),
    "along_some": (along_some, floats(6, 4)),
    "few_greatest": (few_greatest, floats(6, 4)),
    "boxes_of_some": (boxes_of_some, floats(12, 4), number(5)),
    "filter_in_loop": (filter_in_loop, floats(9, 3)),
    "words": (words, floats(1, 8)),
    "beam": (beam, floats(8, 8)),
    "pads": (pads, floats(6, 4), number(4)),
    "tiles": (tiles, floats(6, 4), number(3)),
    "set_rows": (set_rows, floats(6, 4), number(4)),
    "arrays_of_some": (arrays_of_some, floats(6, 4)),
    "grown_array": (grown_array, floats(2, 4)),
    "array_of_n": (array_of_n, floats(6, 4), number(4)),
}
BOUNDS = {
    "ranges": ["--bound", "r=12", "--bound", "f=12", "--bound", "b=12"],
    "tiles": ["--bound", "t=9"],
    "array_of_n_version_2": ["--bound", "a=6"],
    "array_of_n_version_1": ["--bound", "a=6", "--bound", "TensorArrayStack/range=6"],
}

# ---------------------------------------------------------------- random


def step(r, x, deep):
    """Something of x's shape [3,8], with branches and loops in it."""
    kind = r.integers(9 if deep else 6)
    a, b = (float(v) for v in r.uniform(-1.5, 1.5, 2))
    if kind == 0:
        return tf.tanh(tf.matmul(x, W))
    if kind == 1:
        return x * a + b
    if kind == 2:
        return tf.nn.relu(x) - tf.reduce_mean(x, 1, keepdims=True)
    if kind == 3:
        return tf.concat([x[:, 3:], x[:, :3] * a], 1)
    if kind == 4:
        return tf.nn.softmax(x * a)
    if kind == 5:
        return tf.gather(x, tf.argmax(x, 0)[:3] % 3) + a
    at = [r.integers(1 << 30) for _ in range(2)]
    if kind == 6:
        branch_of = [lambda s=s: chain(s, x, deep - 1) for s in at]
        return tf.cond(tf.reduce_sum(x) > a, *branch_of)
    if kind == 7:
        branch_of = [lambda s=s: chain(s, x, deep - 1) for s in (*at, at[0] ^ 1)]
        return tf.switch_case(tf.argmax(x[0], output_type=tf.int32) - 2, branch_of)

    def again(i, v):
        return tf.logical_and(i < 6, tf.reduce_max(v) < 4.0)

    return loop(again, lambda i, v: (i + 1, chain(at[0], v, deep - 1) + 0.3), tf.constant(0), x)[1]


def chain(s, x, deep):
    r = np.random.default_rng(s)
    for _ in range(r.integers(1, 4)):
        x = step(r, x, deep)
    return x


def random_model(k):
    return lambda x: step(np.random.default_rng(900 * seed + k), chain(1000 * seed + k, x, 3), 3)


for k in range(many):
    CASES["random%d" % k] = (random_model(k), floats(3, 8))

# ---------------------------------------------------------------- both ways of writing them, and what comes out


def of_version_2(f, given):
    names = ["in%d" % i for i in range(len(given))]
    specs = [tf.TensorSpec(x.shape, x.dtype, name=n) for n, x in zip(names, given)]
    made = convert_variables_to_constants_v2(tf.function(f).get_concrete_function(*specs), lower_control_flow=False)
    want = [t.numpy() for t in tf.nest.flatten(f(*[tf.constant(x) for x in given]))]
    return made.graph.as_graph_def(), [t.name.removesuffix(":0") for t in made.outputs], want


def of_version_1(f, given):
    tf.compat.v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as g, tf.compat.v1.Session() as session:
            x = [tf.compat.v1.placeholder(x.dtype, x.shape, name="in%d" % i) for i, x in enumerate(given)]
            y = [tf.identity(t, name="out%d" % i) for i, t in enumerate(tf.nest.flatten(f(*x)))]
            return g.as_graph_def(), [t.op.name for t in y], session.run(y, dict(zip(x, given)))
    finally:
        tf.compat.v1.enable_control_flow_v2()


def agrees(got, want):
    if got.ndim != want.ndim or any(a < b for a, b in zip(got.shape, want.shape)):
        return False
    got = got[tuple(slice(0, n) for n in want.shape)]  # the rest has no meaning
    return want.size == 0 or np.allclose(got, want, rtol=1e-4, atol=1e-5)


def call(*words):
    p = subprocess.run([arenac, *map(str, words)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(" ".join(map(str, words)) + "\n" + p.stderr)


for name, (f, *given) in CASES.items():
    for version in of_version_2, of_version_1:
        where = out / (name + version.__name__[2:])
        where.mkdir(parents=True, exist_ok=True)
        graph, outputs, want = version(f, given)
        (where / "m.pb").write_bytes(graph.SerializeToString())
        # as text: nothing is computed ahead of time from the values that `run` is given
        bounds = BOUNDS.get(name, BOUNDS.get(where.name, []))
        call("convert", "-q", where / "m.pb", where / "m.ag", "--outputs", ",".join(outputs), *bounds)
        words = []
        for i, x in enumerate(given):
            np.save(where / ("x%d.npy" % i), x)
            words += ["--input", "in%d=%s" % (i, where / ("x%d.npy" % i))]
        for backend in backends:
            call("run", "-q", where / "m.ag", "--backend", backend, "--output-dir", where / backend, *words)
            got = [np.load(where / backend / ("%d.npy" % i)) for i in range(len(want))]
            if not all(agrees(*p) for p in zip(got, want)):
                sys.exit("%s %s: arenac computes\n%s\nTensorFlow\n%s" % (where, backend, got, want))
print(len(CASES) * 2, "models agree with TensorFlow")
