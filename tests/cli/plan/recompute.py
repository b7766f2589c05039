"""Random graphs of element-wise operators, views, concats and a few convolutions, in the text form.

    recompute.py SEED
"""
import random
import sys

r = random.Random(int(sys.argv[1]))
print("graph g {")
shapes = {"x": (1, 6, 6, 8), "y": (1, 6, 6, 8)}
small = r.random() < 0.5
print("  input x: %s[1,6,6,8]%s" % (("u8", " q(0.02, 128)") if small else ("f32", "")))
print("  input y: f32[1,6,6,8]")
body, consts = [], []
if small:
    body.append("  xf = dequantize(x)")
    shapes["xf"] = shapes.pop("x")
names = list(shapes)


def new(expr, shape):
    name = "t%d" % len(names)
    body.append(f"  {name} = {expr}")
    shapes[name] = shape
    names.append(name)


for i in range(r.randint(8, 40)):
    a = r.choice(names[-8:] if r.random() < 0.7 else names)
    s = shapes[a]
    kind = r.randrange(8)
    like = [b for b in names if shapes[b] == s]
    if kind < 2:
        new(f"{r.choice(['relu', 'abs', 'neg', 'tanh'])}({a})", s)
    elif kind < 4:
        new(f"{r.choice(['add', 'mul', 'sub'])}({a}, {r.choice(like)})", s)
    elif kind == 4 and len(s) == 4:
        new(f"reshape({a}) shape=[1,{s[1] * s[2]},{s[3]}]", (1, s[1] * s[2], s[3]))
    elif kind == 4:
        new(f"reshape({a}) shape=[1,6,{s[1] // 6},{s[2]}]", (1, 6, s[1] // 6, s[2]))
    elif kind == 5 and s[-1] <= 16:
        new(f"concatenation({a}, {r.choice(like)}) axis={len(s) - 1}", (*s[:-1], s[-1] * 2))
    elif kind == 6 and len(s) == 4:
        out = r.choice([2, 8, 24])
        consts.append(f"  const k{i}: f32[{out},1,1,{s[3]}] = random {i} (-0.5, 0.5)")
        new(f"conv_2d({a}, k{i}) padding=same", (*s[:3], out))
    elif kind == 7 and s[-1] > 2:
        new(f"slice({a}) begin={[0] * len(s)} size={[*s[:-1], s[-1] // 2]}", (*s[:-1], s[-1] // 2))
text = " ".join(body)
ends = [n for n in names if f"({n}," not in text and f"({n})" not in text and f" {n})" not in text and n[0] == "t"]
for n in ends: # nothing is left out, and little has to be kept
    body.append(f"  {n}m = mean({n}) axes={list(range(1, len(shapes[n])))}")
print("\n".join(consts + body))
for n in ends:
    print(f"  output {n}m")
print("}")
