"""Floats of 16 bits in memory: random nets compared with NumPy.

    float_storage.py ARENAC DIR [BACKEND OPTION...]

Each net is computed twice in double: as the file says, and with each tensor that arenac stores in 16 bits rounded
where it is stored. Beside each value goes a bound of its error, by the rules of interval arithmetic: what the operands
are away, times the weights' absolute values, what a sum of K floats in any order is away (K + 2 units of 2^-24 of the
sum of absolute values), and, of the second, what rounding to 16 bits makes of the ends of that interval; of the first,
one rounding of either. arenac's result in 16 bits must be within both bounds, must not be that of f32 in most nets, and
the bounds must not be loose: one error is at least a two hundredth of what is allowed, and rounding alike allows a
twentieth."""
import subprocess
import sys

import numpy as np

arenac, folder, backend, options = sys.argv[1], sys.argv[2], (sys.argv[3:4] or ["eval"])[0], sys.argv[4:]
EPS = 2.0 ** -24


def rounded(x, kind):
    """x (double) as the nearest number of the type, ties to even."""
    if kind == "f32":
        return x
    if kind == "f16":
        with np.errstate(over="ignore", invalid="ignore"):
            return x.astype(np.float32).astype(np.float16).astype(np.float64)
    bits = np.ascontiguousarray(x.astype(np.float32)).view(np.uint32).astype(np.uint64)
    near = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return (near << 16).astype(np.uint32).view(np.float32).astype(np.float64)


class Value:
    """v: by the file; e: maximum distance of f32 from 16 bits. r: rounded where arenac rounds; d: maximum distance from
    that."""

    def __init__(self, v, e=None, r=None, d=None):
        zero = np.zeros_like(v)
        self.v, self.e, self.r, self.d = v, zero if e is None else e, v if r is None else r, zero if d is None else d

    def stored(self, kind):
        if kind == "f32":
            return self
        r = rounded(self.r, kind)
        d = np.maximum(rounded(self.r + self.d, kind) - r, r - rounded(self.r - self.d, kind))
        unit = 2.0 ** -8 if kind == "bf16" else 2.0 ** -11
        least = 2.0 ** -134 if kind == "bf16" else 2.0 ** -25
        return Value(self.v, self.e + np.maximum((np.abs(self.v) + self.e) * unit * 1.01, least), r, d)


def linear(f, x, w, b):
    """f(x, w) is a sum of products; b is added."""
    terms = x.shape_of_sum

    def parts(xv, xe, wv, we):
        err = f(xe, np.abs(wv) + we) + f(np.abs(xv), we)
        return err, f(np.abs(xv) + xe, np.abs(wv) + we)

    e, size = parts(x.v, x.e, w.v, w.e)
    d, size_r = parts(x.r, x.d, w.r, w.d)
    slack = (terms + 2) * EPS
    return Value(f(x.v, w.v) + b, e + 2 * slack * (size + np.abs(b)), f(x.r, w.r) + b, d + slack * (size_r + np.abs(b)))


def relu(x):
    return Value(np.maximum(x.v, 0), x.e, np.maximum(x.r, 0), x.d)


def add(x, y):
    v, r = x.v + y.v, x.r + y.r
    return Value(v, x.e + y.e + 2 * EPS * np.abs(v), r, x.d + y.d + EPS * np.abs(r))


def conv(x, w, stride):
    """x [H,W,C] same padding, w [O,K,K,C]."""
    k = w.shape[1]
    out = [-(-n // stride) for n in x.shape[:2]]
    total = [max((o - 1) * stride + k - n, 0) for o, n in zip(out, x.shape)]
    p = np.pad(x, [(t // 2, t - t // 2) for t in total] + [(0, 0)])
    y = np.zeros(out + [w.shape[0]])
    for i in range(k):
        for j in range(k):
            y += np.einsum("hwc,oc->hwo", p[i::stride][: out[0], j::stride][:, : out[1]], w[:, i, j])
    return y


def depthwise(x, w):
    """x [H,W,C] same padding, w [K,K,C]."""
    k = w.shape[0]
    p = np.pad(x, [(k // 2, k // 2)] * 2 + [(0, 0)])
    return sum(p[i : i + x.shape[0], j : j + x.shape[1]] * w[i, j] for i in range(k) for j in range(k))


def text(a):
    return "[" + ", ".join(repr(float(v)) for v in a.ravel()) + "]"


class Net:
    def __init__(self, seed, kind, what):
        self.random, self.lines, self.n = np.random.default_rng(seed), [], 0
        self.acts = kind if "activations" in what else "f32"
        self.weights = kind if "weights" in what else "f32"

    def constant(self, *shape):
        a = (self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        self.n += 1
        name = "c%d" % self.n
        self.lines.append("  const %s: f32[%s] = %s" % (name, ",".join(map(str, shape)), text(a)))
        matrix = sum(n > 1 for n in shape) > 1
        return name, Value(a.astype(np.float64)).stored(self.weights if matrix else "f32")

    def step(self, expr):
        self.n += 1
        self.lines.append("  t%d = %s" % (self.n, expr))
        return "t%d" % self.n

    def sum_of(self, f, x, w, b, terms):
        x.shape_of_sum = terms
        return linear(f, x, w, b.v)

    def make(self):
        """Convolutions of odd shapes, a sum past a block, a depthwise one, a mean's worth of dense layers."""
        r = self.random
        h, w, c = (int(r.integers(4, 10)) for _ in range(3))
        data = r.standard_normal((1, h, w, c)).astype(np.float32)
        self.lines.append("  input x: f32[1,%d,%d,%d]" % (h, w, c))
        at, x = "x", Value(data[0].astype(np.float64))
        for _ in range(int(r.integers(1, 4))):
            o, k, s = int(r.integers(3, 40)), int(r.choice([1, 3])), int(r.choice([1, 1, 2]))
            (wn, wv), (bn, bv) = self.constant(o, k, k, x.v.shape[2]), self.constant(o)
            at = self.step("conv_2d(%s, %s, %s) padding=same stride_h=%d stride_w=%d act=relu" % (at, wn, bn, s, s))
            x = relu(self.sum_of(lambda a, b: conv(a, b, s), x, wv, bv, k * k * x.v.shape[2])).stored(self.acts)
            channels = x.v.shape[2]
            (wn, wv), (bn, bv) = self.constant(1, 3, 3, channels), self.constant(channels)
            flat = Value(wv.v[0], wv.e[0], wv.r[0], wv.d[0])
            one = self.step("depthwise_conv_2d(%s, %s, %s) padding=same stride_h=1 stride_w=1" % (at, wn, bn))
            y = self.sum_of(depthwise, x, flat, bv, 9)
            # the sum is computed in the loops of the convolution before it: one rounding
            at, x = self.step("add(%s, %s)" % (one, at)), add(y, x).stored(self.acts)
        size = x.v.size
        at = self.step("reshape(%s) shape=[1,%d]" % (at, size))
        x = Value(*(p.reshape(1, size) for p in (x.v, x.e, x.r, x.d)))
        for last in (False, True):
            o = int(r.integers(2, 30))
            (wn, wv), (bn, bv) = self.constant(o, x.v.shape[1]), self.constant(o)
            at = self.step("fully_connected(%s, %s, %s)%s" % (at, wn, bn, "" if last else " act=relu"))
            x = self.sum_of(lambda a, b: a @ b.T, x, wv, bv, x.v.shape[1])
            x = x if last else relu(x).stored(self.acts)
        self.lines.append("  output %s" % at)
        return data, x


def run(path, data, *more):
    np.save(folder + "/x.npy", data)
    command = [arenac, "run", "-q", path, "--input", "x=%s/x.npy" % folder, "--output-dir", folder + "/out",
               "--backend", backend, *options, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("float_storage.py: %s\n%s" % (" ".join(map(str, command)), done.stderr))
    return np.load(folder + "/out/0.npy").astype(np.float64)


same = 0  # nets whose result is that of f32: of one that no rounding reaches, since a ReLU let nothing through
worst, allowed = {"f32": 0.0, "rounded": 0.0}, {"f32": 0.0, "rounded": 0.0}
for seed in range(12):
    for kind in ("bf16", "f16"):
        for what in ("weights,activations", "weights", "activations"):
            net = Net(seed, kind, what)
            data, y = net.make()
            path = "%s/net.ag" % folder
            with open(path, "w", encoding="ascii") as f:
                f.write("graph net {\n%s\n}\n" % "\n".join(net.lines))
            plain = run(path, data)
            got = run(path, data, "--float-storage", kind, "--float-storage-of", what)
            for name, want, bound in (("f32", plain, y.e), ("rounded", y.r, y.d)):
                off = np.abs(got - want)
                if not (off <= bound).all():
                    i = np.argmax(off - bound)
                    sys.exit("float_storage.py: seed %d, %s of %s: %g, %s has %g, allowed are %g" %
                             (seed, kind, what, got.ravel()[i], name, want.ravel()[i], bound.ravel()[i]))
                allowed[name] += bound.mean()
                worst[name] = max(worst[name], (off / bound).max())
            same += bool((got == plain).all())
print("72 nets: at most %.3f of the bound beside f32; beside what is rounded the bound is %.4f of that" %
      (worst["f32"], allowed["rounded"] / allowed["f32"]))
if same > 12:
    sys.exit("float_storage.py: %d of 72 results are those of f32" % same)
if worst["f32"] < 5e-3 or allowed["rounded"] > allowed["f32"] / 20:
    sys.exit("float_storage.py: the bounds are loose: %s, %s" % (worst, allowed))
