"""The reference for train.sh: a network of two layers, its losses and optimizers in float64, by the formulas of
PyTorch's documentation. usage: train_reference.py data; train_reference.py check LOSS OPTIMIZER STEPS
FIRST.npz LAST.npz LOG.csv [OPTION=VALUE]..."""
import csv
import sys
import numpy as np

BATCH, ROWS = 4, 10


def data():
    r = np.random.default_rng(5)
    np.save("x.npy", r.normal(size=(ROWS, 6)).astype("f4"))
    np.save("ids.npy", r.integers(0, 3, ROWS))
    np.save("ids32.npy", r.integers(0, 3, ROWS).astype("i4"))
    np.save("reals.npy", r.normal(size=(ROWS, 3)).astype("f4"))
    np.save("shares.npy", r.uniform(size=(ROWS, 3)).astype("f4"))


def loss_of(kind, x, y):
    """The loss, and its gradient by x."""
    n = x.size
    d = x - y if y.shape == x.shape else None
    if kind == "mse":
        return (d * d).sum() / n, 2 * d / n
    if kind == "l1":
        return abs(d).sum() / n, np.sign(d) / n
    if kind == "huber":
        return np.where(abs(d) < 1, d * d / 2, abs(d) - 0.5).sum() / n, np.clip(d, -1, 1) / n
    if kind == "bce_with_logits":
        return (np.maximum(x, 0) - x * y + np.log1p(np.exp(-abs(x)))).sum() / n, (1 / (1 + np.exp(-x)) - y) / n
    p = x - x.max(-1, keepdims=True)
    p = p - np.log(np.exp(p).sum(-1, keepdims=True))
    y = np.eye(x.shape[-1])[y] if y.ndim < x.ndim else y
    return -(p * y).sum() / len(x), (np.exp(p) - y) / len(x)


class Optimizer:
    def __init__(self, kind, o):
        self.kind, self.o, self.t, self.s = kind, o, 0, {}

    def slot(self, name, what, like):
        return self.s.setdefault((name, what), np.zeros_like(like))

    def step(self, w, g, lr):
        o, self.t = self.o, self.t + 1
        if o["clip_norm"]:
            length = np.sqrt(sum((v * v).sum() for v in g.values()))
            g = {k: v * min(1, o["clip_norm"] / (length + 1e-6)) for k, v in g.items()}
        for k in g:
            w[k] = self.one(k, w[k], g[k], lr)

    def one(self, k, w, g, lr):
        o, kind = self.o, self.kind
        if kind == "adamw":
            w = w * (1 - lr * o["weight_decay"])
        else:
            g = g + o["weight_decay"] * w
        if kind in ("adam", "adamw"):
            m, v = self.slot(k, "m", w), self.slot(k, "v", w)
            m += (1 - o["beta1"]) * (g - m)
            v += (1 - o["beta2"]) * (g * g - v)
            m, v = m / (1 - o["beta1"] ** self.t), v / (1 - o["beta2"] ** self.t)
            return w - lr * m / (np.sqrt(v) + o["eps"])
        if kind == "adagrad":
            s = self.slot(k, "s", w)
            s += g * g
            return w - lr * g / (np.sqrt(s) + o["eps"])
        if kind == "rmsprop":
            v = self.slot(k, "v", w)
            v += (1 - o["beta2"]) * (g * g - v)
            g = g / (np.sqrt(v) + o["eps"])
        if o["momentum"]:
            b = self.slot(k, "b", w)
            b *= o["momentum"]
            b += g
            g = g + o["momentum"] * b if kind == "nesterov" else b
        return w - lr * g


def check(kind, optimizer, steps, first, last, log, *options):
    moves, adamw, rms = optimizer in ("momentum", "nesterov"), optimizer == "adamw", optimizer == "rmsprop"
    o = {"lr": 0.05, "momentum": 0.9 * moves, "weight_decay": 0.01 * adamw, "beta1": 0.9,
         "beta2": 0.99 if rms else 0.999, "eps": 1e-10 if optimizer == "adagrad" else 1e-8, "clip_norm": 0.0,
         "target": "", "schedule": "constant", "frozen": ""}
    for v in options:
        key, value = v.split("=")
        o[key] = type(o[key])(value)
    w = {k: v.astype("f8") for k, v in np.load(first).items()}
    x_all = np.load("x.npy").astype("f8")
    y_all = np.load(o["target"] + ".npy" if o["target"] else "ids.npy" if kind == "cross_entropy" else
                    "shares.npy" if kind == "bce_with_logits" else "reals.npy")
    opt, losses, steps = Optimizer(optimizer, o), [], int(steps)
    for k in range(steps):
        rows = (k * BATCH + np.arange(BATCH)) % ROWS
        x, y = x_all[rows], y_all[rows]
        a = np.tanh(x @ w["w1"].T + w["b1"])
        loss, d = loss_of(kind, a @ w["w2"].T + w["b2"], y)
        losses.append(loss)
        g = {"w2": d.T @ a, "b2": d.sum(0)}
        d = (d @ w["w2"]) * (1 - a * a)
        g.update(w1=d.T @ x, b1=d.sum(0))
        part = k / steps
        rates = {"constant": 1, "cosine": (1 + np.cos(np.pi * part)) / 2, "step": 0.1 ** np.floor(3 * part)}
        lr = o["lr"] * rates[o["schedule"]]
        opt.step(w, {k: v for k, v in g.items() if k not in o["frozen"].split(",")}, lr)
    got = [float(r["loss"]) for r in csv.DictReader(open(log))]
    if len(got) != steps or not np.allclose(got, losses, rtol=2e-5, atol=1e-7):
        sys.exit(f"{kind} {optimizer}: losses {got}, expected {losses}")
    after, moved = np.load(last), 0.0
    for k, v in w.items():
        if not np.allclose(after[k], v, rtol=1e-4, atol=3e-6):
            sys.exit(f"{kind} {optimizer}: {k} is off by {abs(after[k] - v).max()}")
        moved = max(moved, abs(after[k] - np.load(first)[k]).max())
    if moved < 1e-3:
        sys.exit("nothing was trained")


{"data": data, "check": check}[sys.argv[1]](*sys.argv[2:])
