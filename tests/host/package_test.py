"""The package arenac with the tool of $ARENAC: models in memory, options of dicts, runs by name, messages.

  package_test.py SOURCE_DIR      in a folder of its own; exits 77 without NumPy"""
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing: install python3-numpy")
    sys.exit(77)
import arenac

SOURCE = pathlib.Path(sys.argv[1])
DIGITS = SOURCE / "models" / "digits_int8.tflite"
pathlib.Path("rows.ag").write_text("""graph rows {
  input "x:0": f32[n,3]
  input scale: f32[3]
  y = mul("x:0", scale)
  output y
}
""")


def raises(kind, word, f):
    try:
        f()
    except kind as e:
        assert word in str(e), "%r does not hold %r" % (str(e), word)
        return e
    raise AssertionError("nothing was raised; expected %s with %r" % (kind.__name__, word))


class Proto:
    """As onnx.ModelProto."""

    def SerializeToString(self):
        return DIGITS.read_bytes()


assert arenac.__version__[0].isdigit() and "json" not in dir(arenac) and "plan" in dir(arenac)
raises(AttributeError, "no attribute 'nosuch'", lambda: arenac.nosuch)

# a model: a path, a list of paths, bytes, what has SerializeToString
want = arenac.plan(DIGITS).arena_bytes
for model in str(DIGITS), [DIGITS], (str(DIGITS),), DIGITS.read_bytes(), memoryview(DIGITS.read_bytes()), Proto():
    assert arenac.plan(model).arena_bytes == want
raises(TypeError, "not int", lambda: arenac.plan(3))
raises(TypeError, "not list", lambda: arenac.plan([3]))
raises(TypeError, "not dict", lambda: arenac.compile({}))

# options
p = arenac.plan("rows.ag", dim={"n": 20})
assert p.tensors[0].shape == (20, 3) and p.arena_bytes == arenac.plan("rows.ag", dim="n=20").arena_bytes
assert arenac.plan("rows.ag", dim=["n=20"], mem={"sram": "64K"}).tensors[0].memory == "sram"
assert repr(p).startswith("Plan(arena_bytes=%d, " % p.arena_bytes) and len(repr(p)) < 100, repr(p)
raises(TypeError, "dim=...: ndarray", lambda: arenac.plan("rows.ag", dim=np.zeros(2)))
several = arenac.plan("rows.ag", dim="n=2..8")
assert several.arena_bytes >= several.lower_bound_bytes > 0 and len(several.report["models"]) == 7
assert several.tensors == []

# ranges are C's
e = raises(arenac.Error, "n=2..8", lambda: arenac.compile("rows.ag", dim="n=2..8"))
assert "sizes of a module are fixed" in str(e) and e.status == 2, str(e)
e = raises(arenac.Error, "unknown option '--sizes'", lambda: arenac.compile("rows.ag", dim="n=2..8", sizes="one"))
assert "plan and compile have it" in str(e) and "help-all" not in str(e), str(e)

# texts
with open("colors.ag", "w") as f:
    f.write('graph colors words ["blue", "red"] {\n input x: i32[2] text\n const c: i32[1] word = [1]\n'
            ' y = equal(x, c)\n output y, x\n}\n')
m = arenac.compile("colors.ag")
assert m.texts == ["blue", "red"] and m.code("red") == 1 and m.code("green") == 2
y, = m.run(["red", "green"])[:1]
assert list(y) == [True, False]

# runs by name, and what messages and representations say
x, s = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
m = arenac.compile("rows.ag", dim={"n": 2})
assert repr(m) == "<arenac.Module rows: x:0 f32 [2, 3], scale f32 [3] -> y f32 [2, 3]>", repr(m)
for y in m.run(x, s), m.run({"x:0": x, "scale": s}), m.run(x, scale=s):
    assert (y[0].numpy() == x * s).all() and (y[0][1] == (x * s)[1]).all() and len(y[0]) == 2
raises(TypeError, "1 inputs given, rows has 2: x:0, scale", lambda: m.run(x))
raises(TypeError, "rows has no input 'image'", lambda: m.run(x, image=s))
raises(TypeError, "out is ndarray", lambda: m.run(x, s, out=np.zeros_like(x)))
raises(ValueError, "type is f64, expected f32", lambda: m.run(x.astype("f8"), s))
assert "model" in repr(arenac.compile(Proto()))
kept = arenac.compile("rows.ag", folder="kept", dim={"n": 2})
assert kept.path.endswith("kept/rows.py") and (kept.run(x, s)[0].numpy() == x * s).all()
print("package")
