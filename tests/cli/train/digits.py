"""Handwriting of a kind: digits of seven segments on 12 x 12 pixels, moved, slanted, thick or thin, and noisy; from a
seed. Writes x.npy, y.npy (4000 to learn from) and hx.npy, hy.npy (500 held out), and net.ag, an untrained network."""
import numpy as np

SEGMENTS = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc", 5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg",
            9: "abfgcd"}
ENDS = {"a": (0, 0, 0, 1), "b": (0, 1, 1, 1), "c": (1, 1, 2, 1), "d": (2, 0, 2, 1), "e": (1, 0, 2, 0),
        "f": (0, 0, 1, 0), "g": (1, 0, 1, 1)}
SIZE = 12


def draw(r, digit):
    top, left = r.uniform(1, 3.5), r.uniform(1.5, 5)
    height, width, slant, thick = r.uniform(2.6, 4), r.uniform(3, 5), r.uniform(-0.25, 0.25), r.uniform(0.5, 0.9)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    image = np.zeros((SIZE, SIZE))
    for s in SEGMENTS[digit]:
        y0, x0, y1, x1 = ENDS[s]
        for t in np.linspace(0, 1, 7):
            y, x = top + height * (y0 + (y1 - y0) * t), left + width * (x0 + (x1 - x0) * t)
            x += slant * (top + height - y)
            image = np.maximum(image, np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * thick ** 2)))
    return np.clip(image + r.normal(0, 0.1, image.shape), 0, 1.5)


def main():
    r = np.random.default_rng(7)
    for x, y, n in (("x", "y", 4000), ("hx", "hy", 500)):
        digits = r.integers(0, 10, n)
        np.save(x + ".npy", np.array([draw(r, d) for d in digits], "f4")[..., None])
        np.save(y + ".npy", digits.astype("i4"))
    open("net.ag", "w").write("""graph digits {
  input x: f32[1,12,12,1]
  const c1: f32[8,3,3,1] = random 1 (-0.5, 0.5)
  const b1: f32[8] = random 2 (-0.1, 0.1)
  const c2: f32[16,3,3,8] = random 3 (-0.2, 0.2)
  const b2: f32[16] = random 4 (-0.1, 0.1)
  const w: f32[10,144] = random 5 (-0.1, 0.1)
  const b3: f32[10] = random 6 (-0.1, 0.1)
  a = conv_2d(x, c1, b1) padding=same
  r1 = relu(a)
  p1 = max_pool_2d(r1) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
  c = conv_2d(p1, c2, b2) padding=same
  r2 = relu(c)
  p2 = max_pool_2d(r2) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2
  f = reshape(p2) shape=[1,144]
  y = fully_connected(f, w, b3)
  output y
}
""")


main()
