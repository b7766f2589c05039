"""Values of Caffe's rarer layers.   caffe_values.py ARENAC"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
from compare import conv, deconv, finish, iou, run
from wire import data as field, varint

arenac = sys.argv[1]
rng = np.random.default_rng(3)


class Net:
    def __init__(self, **inputs):
        self.inputs, self.text, self.weights, self.want = [], "", b"", {}
        for name, x in inputs.items():
            self.input(name, x)

    def input(self, name, x):
        shape = " ".join(f"dim: {d}" for d in x.shape)
        self.inputs.append(x)
        self.text += (f'layer {{ name: "{name}" type: "Input" top: "{name}" '
                      f'input_param {{ shape {{ {shape} }} }} }}\n')

    def layer(self, kind, bottoms, params, *want, blobs=()):
        name = f"{kind}{len(self.want)}"
        tops = [f"{name}_{k}" for k in range(len(want))]
        self.text += f'layer {{ name: "{name}" type: "{kind}" ' + " ".join(f'bottom: "{b}"' for b in bottoms.split())
        self.text += " " + " ".join(f'top: "{t}"' for t in tops) + f" {params} }}\n"
        self.want.update(zip(tops, want))
        content = field(1, name.encode()) + field(2, kind.encode())
        for b in blobs:
            b = np.asarray(b, np.float32)
            content += field(7, field(5, b.tobytes()) + field(7, field(1, b"".join(varint(d) for d in b.shape))))
        if blobs:
            self.weights += field(100, content)
        return tops[0]

    def run(self):
        files = {"net.prototxt": 'name: "values"\n' + self.text, "net.caffemodel": field(1, b"values") + self.weights}
        run(arenac, files, self.inputs, self.want, ["--outputs", ",".join(self.want)])


def reorg(x, s, reverse):
    """Darknet's loop over the elements, in its own numbering of the larger image."""
    n, c, h, w = x.shape
    flat, y, out = x.ravel(), np.zeros(x.size, np.float32), c // (s * s)
    for b, k, j, i in np.ndindex(n, c, h, w):
        small = i + w * (j + h * (k + c * b))
        row, column = j * s + k // out // s, i * s + k // out % s
        large = column + w * s * (row + h * s * (k % out + out * b))
        if reverse:
            y[large] = flat[small]
        else:
            y[small] = flat[large]
    return y.reshape((n, out, h * s, w * s) if reverse else (n, c * s * s, h // s, w // s))


def interp(x, h, w):
    y = np.zeros(x.shape[:2] + (h, w), np.float32)
    sy, sx = ((x.shape[2] - 1) / (h - 1) if h > 1 else 0), ((x.shape[3] - 1) / (w - 1) if w > 1 else 0)
    for i in range(h):
        for j in range(w):
            a, b = i * sy, j * sx
            r, c = int(a), int(b)
            r1, c1 = min(r + 1, x.shape[2] - 1), min(c + 1, x.shape[3] - 1)
            u, v = a - r, b - c
            y[:, :, i, j] = ((1 - u) * ((1 - v) * x[:, :, r, c] + v * x[:, :, r, c1]) +
                             u * ((1 - v) * x[:, :, r1, c] + v * x[:, :, r1, c1]))
    return y


def pool(x, k, stride, pad, how):
    """Rounds up; a last window that starts in the pad is dropped; averages count the pads."""
    out = [-(-(d + 2 * pad - k) // stride) + 1 for d in x.shape[2:]]
    out = [o - (pad > 0 and (o - 1) * stride >= d + pad) for o, d in zip(out, x.shape[2:])]
    y = np.zeros(x.shape[:2] + tuple(out), np.float32)
    for i in range(out[0]):
        for j in range(out[1]):
            a, b = i * stride - pad, j * stride - pad
            e, f = min(a + k, x.shape[2] + pad), min(b + k, x.shape[3] + pad)
            part = x[:, :, max(a, 0):min(e, x.shape[2]), max(b, 0):min(f, x.shape[3])]
            y[:, :, i, j] = part.max((2, 3)) if how == "MAX" else part.sum((2, 3)) / ((e - a) * (f - b))
    return y


def places(x, k, stride, pad):
    """The first maximum of each window, as h * W + w of its image."""
    y, (h, w) = pool(x, k, stride, pad, "MAX"), x.shape[2:]
    for i, j in np.ndindex(y.shape[2:]):
        a, b = max(i * stride - pad, 0), max(j * stride - pad, 0)
        part = x[:, :, a:min(i * stride - pad + k, h), b:min(j * stride - pad + k, w)]
        at = part.reshape(x.shape[:2] + (-1,)).argmax(2)
        y[:, :, i, j] = (a + at // part.shape[3]) * w + b + at % part.shape[3]
    return y


def unpool(x, mask, h, w):
    y = np.zeros(x.shape[:2] + (h * w,), np.float32)
    np.put_along_axis(y, mask.reshape(x.shape[:2] + (-1,)).astype(np.int64), x.reshape(x.shape[:2] + (-1,)), 2)
    return y.reshape(x.shape[:2] + (h, w))


def spp(x, height):
    parts = []
    for level in range(height):
        bins = 2 ** level
        kh, kw = -(-x.shape[2] // bins), -(-x.shape[3] // bins)
        ph, pw = (kh * bins - x.shape[2] + 1) // 2, (kw * bins - x.shape[3] + 1) // 2
        y = np.zeros(x.shape[:2] + (bins, bins), np.float32)
        for i in range(bins):
            for j in range(bins):
                r, c = i * kh - ph, j * kw - pw
                y[:, :, i, j] = x[:, :, max(r, 0):r + kh, max(c, 0):c + kw].max((2, 3))
        parts.append(y.reshape(x.shape[0], -1))
    return np.concatenate(parts, 1)


def small():
    x = rng.standard_normal((2, 4, 7, 6)).astype(np.float32)
    y = rng.standard_normal((2, 4, 5, 4)).astype(np.float32)
    f = rng.standard_normal((2, 5)).astype(np.float32)
    v = rng.standard_normal((2, 4)).astype(np.float32)
    n = Net(x=x, y=y, f=f, v=v)
    n.layer("Interp", "x", "interp_param { height: 13 width: 9 }", interp(x, 13, 9))
    n.layer("Interp", "x", "interp_param { zoom_factor: 2 }", interp(x, 13, 11))
    n.layer("Interp", "x", "interp_param { shrink_factor: 2 }", interp(x, 4, 3))
    n.layer("Crop", "x y", "crop_param { axis: 2 offset: 1 offset: 2 }", x[:, :, 1:6, 2:6])
    n.layer("Crop", "x y", "crop_param { axis: 3 offset: 2 }", x[:, :, :, 2:6])
    a = rng.standard_normal(4).astype(np.float32)
    n.layer("PReLU", "x", "", np.where(x > 0, x, a.reshape(1, 4, 1, 1) * x), blobs=[a])
    n.layer("PReLU", "x", "prelu_param { channel_shared: true }", np.where(x > 0, x, a[0] * x),
            blobs=[a[0].reshape(())])
    n.layer("PReLU", "x", "prelu_param { channel_shared: true }", np.where(x > 0, x, a[0] * x), blobs=[a[:1]])
    n.layer("Normalize", "x", "norm_param { across_spatial: false channel_shared: false }",
            x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-10) * a.reshape(1, 4, 1, 1), blobs=[a])
    n.layer("Normalize", "x", "norm_param { across_spatial: true channel_shared: true }",
            x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) + 1e-10) * a[1], blobs=[a[1].reshape(())])
    n.layer("Normalize", "x",
            "norm_param { across_spatial: true channel_shared: false scale_filler { value: 20 } }",
            x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) + 1e-10) * a.reshape(1, 4, 1, 1), blobs=[a])
    n.layer("Upsample", "x", "upsample_param { scale: 3 }", x.repeat(3, 2).repeat(3, 3))
    for k, stride, pad, params in ((2, 2, 0, ""), (3, 2, 1, f"upsample_h: {x.shape[2]} upsample_w: {x.shape[3]}")):
        small, mask = pool(x, k, stride, pad, "MAX"), places(x, k, stride, pad)
        top = n.layer("Pooling", "x", f"pooling_param {{ kernel_size: {k} stride: {stride} pad: {pad} }}", small, mask)
        size = x.shape[2:] if params else (small.shape[2] * 2, small.shape[3] * 2)
        n.layer("Upsample", f"{top} {top[:-1]}1", f"upsample_param {{ scale: 2 {params} }}", unpool(small, mask, *size))
    n.layer("Upsample", f"{top} {top[:-1]}1", "upsample_param { scale_h: 2 scale_w: 3 pad_out_h: true }",
            unpool(small, mask, small.shape[2] * 2 - 1, small.shape[3] * 3))
    n.layer("Dropout", "x", "dropout_param { dropout_ratio: 0.25 scale_train: false }", x * 0.75)
    z = rng.standard_normal((2, 8, 6, 4)).astype(np.float32)
    n.input("z", z)
    n.layer("Reorg", "z", "reorg_param { stride: 2 }", reorg(z, 2, False))
    n.layer("Reorg", "z", "reorg_param { stride: 2 reverse: true }", reorg(z, 2, True))
    n.layer("Permute", "x", "permute_param { order: 0 order: 3 order: 1 order: 2 }", x.transpose(0, 3, 1, 2))
    n.layer("Permute", "x", "permute_param { order: 2 }", x.transpose(2, 0, 1, 3))
    n.layer("Reduction", "x", "reduction_param { operation: SUM axis: 1 coeff: 0.5 }", x.sum((1, 2, 3)) * 0.5)
    n.layer("Reduction", "x", "reduction_param { operation: ASUM axis: -2 }", np.abs(x).sum((2, 3)))
    n.layer("Reduction", "x", "reduction_param { operation: SUMSQ axis: 1 }", (x * x).sum((1, 2, 3)))
    n.layer("Reduction", "x", "reduction_param { operation: MEAN }", x.mean())
    n.layer("ArgMax", "x", "argmax_param { axis: 1 }", x.argmax(1)[:, None])
    n.layer("ArgMax", "x", "argmax_param { axis: 1 out_max_val: true }", x.max(1)[:, None])
    order = np.argsort(-x.reshape(2, -1), 1)
    n.layer("ArgMax", "x", "argmax_param { top_k: 3 }", order[:, None, :3])
    n.layer("ArgMax", "x", "argmax_param { top_k: 2 out_max_val: true }",
            np.stack([order[:, :2], np.take_along_axis(x.reshape(2, -1), order[:, :2], 1)], 1))
    n.layer("Scale", "x", "scale_param { bias_term: true }", x * a.reshape(1, 4, 1, 1) + a[::-1].reshape(1, 4, 1, 1),
            blobs=[a, a[::-1]])
    n.layer("Scale", "x v", "scale_param { axis: 0 }", x * v[:, :, None, None])
    n.layer("Bias", "x v", "bias_param { axis: 0 }", x + v[:, :, None, None])
    n.layer("SPP", "x", "spp_param { pyramid_height: 3 pool: MAX }", spp(x, 3))
    sq = np.pad(x * x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    mean = sum(sq[:, :, i:i + 7, j:j + 6] for i in range(3) for j in range(3)) / 9
    n.layer("LRN", "x", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 norm_region: WITHIN_CHANNEL }",
            x * (1 + 0.5 * mean) ** -0.75)
    sq = np.pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))
    n.layer("LRN", "x", "lrn_param { local_size: 5 alpha: 0.5 beta: 0.75 k: 2 }",
            x * (2 + 0.1 * sum(sq[:, k:k + 4] for k in range(5))) ** -0.75)
    w, b = rng.standard_normal((4, 3, 3, 3)).astype(np.float32), rng.standard_normal(6).astype(np.float32)
    n.layer("Deconvolution", "x", "convolution_param { num_output: 6 group: 2 kernel_size: 3 stride: 2 pad: 1 }",
            deconv(x, w, b, 2, 2, 1, 1), blobs=[w, b])
    n.layer("Deconvolution", "x", "convolution_param { num_output: 6 group: 2 kernel_size: 3 stride: 2 dilation: 2 }",
            deconv(x, w, b, 2, 2, 2, 0), blobs=[w, b])
    n.layer("Deconvolution", "x", "convolution_param { num_output: 4 group: 4 kernel_size: 3 stride: 2 pad: 3 }",
            deconv(x, w[:, :1], b[:4], 4, 2, 1, 3), blobs=[w[:, :1], b[:4]])
    v5 = x.reshape(2, 2, 2, 7, 6)
    w5 = rng.standard_normal((4, 2, 2, 3, 1)).astype(np.float32)
    cube = n.layer("Reshape", "x", "reshape_param { shape { dim: 2 dim: 2 dim: 2 dim: 7 dim: 6 } }", v5)
    n.layer("Convolution", cube,
            "convolution_param { num_output: 4 kernel_size: 2 kernel_size: 3 kernel_size: 1 pad: 1 }",
            conv(v5, w5, b[:4], pad=1), blobs=[w5, b[:4]])
    for how in ("MAX", "AVE"):
        n.layer("Pooling", "x", f"pooling_param {{ pool: {how} kernel_size: 3 stride: 2 pad: 1 }}",
                pool(x, 3, 2, 1, how))
        n.layer("Pooling", "x", f"pooling_param {{ pool: {how} kernel_size: 3 stride: 3 }}", pool(x, 3, 3, 0, how))
    m, s = x.mean((2, 3), keepdims=True), x.std((2, 3), keepdims=True)
    n.layer("MVN", "x", "", (x - m) / (s + 1e-9))
    n.layer("MVN", "x", "mvn_param { across_channels: true normalize_variance: false }",
            x - x.mean((1, 2, 3), keepdims=True))
    n.layer("Exp", "x", "exp_param { base: 2 scale: 0.5 shift: 1 }", 2 ** (1 + 0.5 * x))
    n.layer("Log", "x", "log_param { base: 10 scale: 0.1 shift: 3 }", np.log10(3 + 0.1 * x))
    n.layer("Power", "x", "power_param { power: 3 scale: 0.5 shift: 0.25 }", (0.25 + 0.5 * x) ** 3)
    n.layer("ELU", "x", "elu_param { alpha: 0.5 }", np.where(x > 0, x, 0.5 * np.expm1(x)))
    n.layer("BNLL", "x", "", np.log1p(np.exp(x)))
    n.layer("Threshold", "x", "threshold_param { threshold: 0.2 }", (x > 0.2).astype(np.float32))
    n.layer("Eltwise", "x x x", "eltwise_param { operation: SUM coeff: 1 coeff: -0.5 coeff: 0.25 }", x * 0.75)
    n.layer("Slice", "x", "slice_param { axis: 1 slice_point: 1 slice_point: 3 }", x[:, :1], x[:, 1:3], x[:, 3:])
    n.layer("Tile", "f", "tile_param { axis: 1 tiles: 3 }", np.tile(f, (1, 3)))
    n.layer("Reshape", "x", "reshape_param { shape { dim: 0 dim: -1 dim: 3 } axis: 0 num_axes: -1 }",
            x.reshape(2, -1, 3))
    n.layer("Flatten", "x", "flatten_param { axis: 1 end_axis: 2 }", x.reshape(2, 28, 6))
    stat, var, factor = rng.standard_normal(4).astype(np.float32), rng.random(4).astype(np.float32) + 0.5, 4.0
    n.layer("BatchNorm", "x", "",
            (x - (stat / factor).reshape(1, 4, 1, 1)) / np.sqrt((var / factor).reshape(1, 4, 1, 1) + 1e-5),
            blobs=[stat, var, [factor]])
    wi, bi = rng.standard_normal((3, 24)).astype(np.float32), rng.standard_normal(3).astype(np.float32)
    n.layer("InnerProduct", "y", "inner_product_param { num_output: 3 axis: 3 transpose: true bias_term: false }",
            y @ wi[:, :4].T, blobs=[wi[:, :4].T])
    n.run()


def prior_box(h, w, img, smallest, largest, ratios, flip, clip, var, offset=0.5):
    rows = []
    ratios = [1.0] + [q for r in ratios for q in ([r, 1 / r] if flip else [r])]
    for i in range(h):
        for j in range(w):
            cx, cy = (j + offset) * img / w, (i + offset) * img / h
            sizes = []
            for k, s in enumerate(smallest):
                sizes += [(s, s)] + ([(np.sqrt(s * largest[k]),) * 2] if largest else [])
                sizes += [(s * np.sqrt(r), s / np.sqrt(r)) for r in ratios[1:]]
            rows += [[(cx - a / 2) / img, (cy - b / 2) / img, (cx + a / 2) / img, (cy + b / 2) / img] for a, b in sizes]
    rows = np.array(rows, np.float32)
    rows = np.clip(rows, 0, 1) if clip else rows
    return np.stack([rows.ravel(), np.tile(np.array(var, np.float32), len(rows))])[None]


def decode(loc, prior, var):
    size, middle = prior[:, 2:] - prior[:, :2], (prior[:, 2:] + prior[:, :2]) / 2
    at, reach = loc[:, :2] * var[:, :2] * size + middle, np.exp(loc[:, 2:] * var[:, 2:]) * size / 2
    return np.concatenate([at - reach, at + reach], 1)


def detection(loc, conf, prior, classes, nms, top, keep, least):
    box_of, var = prior[0, 0].reshape(-1, 4), prior[0, 1].reshape(-1, 4)
    out = np.zeros((len(loc) * keep, 7), np.float32)
    row = 0
    for n in range(len(loc)):
        box, c = decode(loc[n].reshape(-1, 4), box_of, var), conf[n].reshape(-1, classes)
        found = []
        for k in range(1, classes):
            order = [i for i in np.argsort(-c[:, k], kind="stable") if c[i, k] > least][:top]
            left = []
            for i in order:
                if all(iou(box[i], box[j]) <= nms for j in left):
                    left.append(i)
            found += [(k, c[i, k], i) for i in left]
        best = sorted(found, key=lambda r: -r[1])[:keep]
        for k, s, i in [r for r in found if r in best]:
            out[row] = [n, k, s, *box[i]]
            row += 1
    return out[None, None]


def ssd():
    img, feat = np.zeros((2, 3, 60, 60), np.float32), np.zeros((2, 5, 3, 4), np.float32)
    count = 3 * 4 * 4
    prior = prior_box(3, 4, 60, [20], [35], [2], True, True, [0.1, 0.1, 0.2, 0.2])
    loc = rng.standard_normal((2, count * 4)).astype(np.float32)
    conf = rng.random((2, count * 3)).astype(np.float32)
    n = Net(img=img, feat=feat, loc=loc, conf=conf)
    top = n.layer("PriorBox", "feat img",
                  "prior_box_param { min_size: 20 max_size: 35 aspect_ratio: 2 flip: true clip: true "
                  "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }", prior)
    n.layer("PriorBox", "feat img",
            "prior_box_param { min_size: 10 min_size: 30 aspect_ratio: 3 flip: false clip: false variance: 0.1 }",
            prior_box(3, 4, 60, [10, 30], [], [3], False, False, [0.1] * 4))
    how = ("detection_output_param { num_classes: 3 share_location: true background_label_id: 0 "
           "nms_param { nms_threshold: 0.4 top_k: 20 } "
           "code_type: CENTER_SIZE keep_top_k: 12 confidence_threshold: 0.3 }")
    n.layer("DetectionOutput", f"loc conf {top}", how, detection(loc, conf, prior, 3, 0.4, 20, 12, 0.3))
    n.run()


small()
ssd()
finish()
