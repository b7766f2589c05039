"""The modules of `arenac python` with the frameworks that are installed: values, ownership, refusals, leaks.

  dlpack_test.py FOLDER      holds corners.py and wide.py, generated from the .ag files in the folder of this script
Prints one line for each framework; exits 1 at the first failure, 77 without NumPy."""
import ctypes
import gc
import importlib
import os
import resource
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing: install python3-numpy")
    sys.exit(77)
sys.path.insert(0, sys.argv[1])
import corners
import wide

X = np.array([[1, -2, 3.5], [0, 8, -0.25]], np.float32)
K = np.array([-128, 0, 3, 127], np.int8)
WRITEABLE = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # older ones make every array from DLPack read-only
WANT = [X, X.reshape(6), 2 * X, 2 * X.reshape(6), np.array([1, 2, 3, 4], np.float32), 2 * X.reshape(6)[3:], -2 * X, K]


def raises(kind, word, f):
    try:
        f()
    except kind as e:
        assert word in str(e), "%r does not hold %r" % (str(e), word)
        return
    raise AssertionError("nothing was raised; expected %s with %r" % (kind.__name__, word))


class Old:
    """A tensor from before DLPack 1.0: __dlpack__ has no parameter max_version."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


def numpy_test():
    out = corners.run(X, K)
    assert [t.name for t in out] == [o[0] for o in corners.OUTPUTS] and out[7].scale == 0.5 and out[7].zero_point == 3
    for t, want in zip(out, WANT):
        y = np.from_dlpack(t)
        assert y.dtype == want.dtype and y.shape == want.shape and (y == want).all(), t
        assert y.flags.writeable == WRITEABLE, t
    raises(BufferError, "given away", lambda: np.from_dlpack(out[0]))
    for t, want in zip(corners.run(X, K), WANT):  # as NumPy itself takes it, and again
        y = np.asarray(t)
        assert y.dtype == want.dtype and y.shape == want.shape and (y == want).all(), t
        assert np.shares_memory(y, np.asarray(t)) and (np.asarray(t, np.float64) == want).all(), t
        assert (np.add(t, 0) == want).all(), t
    old = corners.run(Old(X), Old(K))
    assert (np.from_dlpack(old[2]) == 2 * X).all()
    capsule = corners.run(X, K)[0].__dlpack__()
    assert "dltensor" in repr(capsule)
    again = corners.run(capsule, K)
    assert (np.from_dlpack(again[2]) == 2 * X).all()
    raises(ValueError, "used already", lambda: corners.run(capsule, K))
    # into the caller's own tensors
    z = [np.zeros_like(w) for w in WANT]
    assert corners.run(X, K, out=z)[3] is z[3]
    assert all((a == b).all() for a, b in zip(z, WANT))
    z[6].flags.writeable = False
    raises((BufferError, TypeError), "read", lambda: corners.run(X, K, out=z))
    # refusals name the field
    raises(ValueError, "strides[1]", lambda: corners.run(np.asfortranarray(X), K))
    raises(ValueError, "type is f64, expected f32", lambda: corners.run(X.astype(np.float64), K))
    raises(ValueError, "type is i32, expected i8", lambda: corners.run(X, K.astype(np.int32)))
    raises(ValueError, "type is u8, expected i8", lambda: corners.run(X, K.astype(np.uint8)))
    raises(ValueError, "shape[1]", lambda: corners.run(X[:, :2].copy(), K))
    raises(ValueError, "dimensions", lambda: corners.run(X.reshape(6), K))
    raises(TypeError, "2", lambda: corners.run(X))
    raises(TypeError, "__dlpack__", lambda: corners.run([1, 2, 3], K))
    wrong = corners.run(X, K)[0]
    raises(BufferError, "stream", lambda: wrong.__dlpack__(stream=1))
    raises(BufferError, "device", lambda: wrong.__dlpack__(dl_device=(2, 0)))
    raises(BufferError, "copy", lambda: wrong.__dlpack__(copy=True))
    assert wrong.__dlpack_device__() == (1, 0)
    raises(TypeError, "out is ndarray, expected a list", lambda: corners.run(X, K, out=np.zeros_like(X)))
    # inputs by name, as a dict or as keywords; after the positions
    names = [i[0] for i in corners.INPUTS]
    for y in (corners.run(dict(zip(names, (X, K)))), corners.run(dict(zip(reversed(names), (K, X)))),
              corners.run(**dict(zip(names, (X, K)))), corners.run(X, **{names[1]: K}),
              corners.Model().run({names[0]: X}, **{names[1]: K})):
        assert (np.asarray(y[2]) == 2 * X).all() and (np.asarray(y[7]) == K).all()
    raises(TypeError, "corners has no input 'nosuch'; its inputs: " + ", ".join(names),
           lambda: corners.run(X, nosuch=K))
    raises(TypeError, "'%s' of corners is given twice" % names[0], lambda: corners.run(X, **{names[0]: X}))
    raises(TypeError, "missing: " + names[1], lambda: corners.run({names[0]: X}))
    # outputs are like arrays
    y = corners.run(X, K)[2]
    assert len(y) == 2 and (y[1] == 2 * X[1]).all() and y[0, 2] == 7 and (y.numpy() == 2 * X).all()
    assert [r.tolist() for r in y] == (2 * X).tolist()
    # state is a model's own
    a, b = wide.Model(), wide.Model()
    x = np.zeros((256, 1024), np.float32)
    for m in (a, b, a):
        assert (np.from_dlpack(m.run(x)[1]) == [[2, 3, 4, 5]]).all()
        m.reset()


def leak_test():
    x = np.ones((256, 1024), np.float32)
    ways = [lambda: wide.run(x), lambda: wide.run(x)[0].__dlpack__(),
            lambda: wide.run(x)[0].__dlpack__(max_version=(1, 0)),
            lambda: np.from_dlpack(wide.run(x)[0]), lambda: wide.run(wide.run(x)[0].__dlpack__()),
            lambda: wide.run(wide.run(x)[0].__dlpack__(max_version=(1, 1))), lambda: wide.Model().run(x),
            lambda: raises(ValueError, "shape", lambda: wide.run(np.ones((255, 1024), np.float32)))]
    no_leak(ways)


def no_leak(ways):
    for i, way in enumerate(ways):
        for k in range(220):
            if k == 20:
                gc.collect()
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            way()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 40 * 1024, "way %d: %d KiB more after 200 runs of 1 MiB each" % (i, grown)


def capsule_test():
    """Fields of a tensor that no framework here would give, put into a capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    def changed(change, out=False):
        capsule = corners.run(X, K)[0].__dlpack__(max_version=(1, 1))
        at = ctypes.cast(get(capsule, b"dltensor_versioned"), ctypes.POINTER(corners._Versioned)).contents
        change(at)
        if not out:
            return corners.run(capsule, K)

        class Given:
            def __dlpack__(self, **_):
                return capsule
        return corners.run(X, K, out=[Given()] + [np.zeros_like(w) for w in WANT[1:]])

    def field(**fields):
        def change(t):
            for name, v in fields.items():
                setattr(t.tensor, name, v)
        return change

    def version(major, flags=0):
        def change(t):
            t.version.major, t.flags = major, flags
        return change

    assert (np.from_dlpack(changed(lambda t: None)[2]) == 2 * X).all()
    changed(version(1), out=True)
    raises(BufferError, "DLPack 2 is not known", lambda: changed(version(2)))
    raises(BufferError, "DLPack 0 is not known", lambda: changed(version(0)))
    raises(BufferError, "read only", lambda: changed(version(1, 1), out=True))
    changed(version(1, 1))  # as an input it may be
    raises(ValueError, "device type is 2", lambda: changed(field(device_type=2)))
    raises(ValueError, "not aligned to 4", lambda: changed(field(byte_offset=2)))
    raises(ValueError, "2 lanes", lambda: changed(field(lanes=2)))


def torch_test(torch):
    x, k = torch.from_numpy(X.copy()), torch.from_numpy(K.copy())
    for t, want in zip(corners.run(x, k), WANT):
        y = torch.from_dlpack(t)
        assert list(y.shape) == list(want.shape) and (y.numpy() == want).all()
    raises(ValueError, "strides", lambda: corners.run(torch.from_numpy(np.ones((3, 2), np.float32)).t(), k))
    z = [torch.from_numpy(np.zeros_like(w)) for w in WANT]
    corners.run(x, k, out=z)
    assert all((a.numpy() == b).all() for a, b in zip(z, WANT))
    # a part of a larger tensor, at an odd address for bytes; tensors without max_version; capsules
    wide_x, wide_k = torch.zeros(100), torch.zeros(9, dtype=torch.int8)
    wide_x[1:7], wide_k[1:5] = x.reshape(6), k
    y = torch.from_dlpack(corners.run(wide_x[1:7].view(2, 3), wide_k[1:5])[2])
    gc.collect()
    assert (y.numpy() == 2 * X).all()
    y = torch.utils.dlpack.from_dlpack(corners.run(torch.utils.dlpack.to_dlpack(x), k)[2].__dlpack__())
    assert (y.numpy() == 2 * X).all()
    raises(ValueError, "strides[1] is 0", lambda: corners.run(torch.ones(1).expand(2, 3), k))
    raises(ValueError, "expected f32", lambda: corners.run(x.bfloat16(), k))
    raises(ValueError, "expected i8", lambda: corners.run(x, k.bool()))
    raises(ValueError, "shape[0] is 0", lambda: corners.run(torch.ones(0, 3), k))
    raises((BufferError, RuntimeError), "gradient", lambda: corners.run(x.clone().requires_grad_(), k))
    raises((BufferError, RuntimeError, NotImplementedError), "meta", lambda: corners.run(x.to("meta"), k))
    # it is the same memory on both sides
    mine = torch.zeros(2, 3)
    corners.run(x, k, out=[mine] + z[1:])
    shared = corners.run(x, k)[2]
    view = torch.from_dlpack(shared)
    view[0, 0] = 7
    assert (mine.numpy() == X).all() and view.data_ptr() % 4 == 0 and view[0, 0] == 7
    big = torch.ones(256, 1024)
    no_leak([lambda: wide.run(big), lambda: torch.from_dlpack(wide.run(big)[0]),
             lambda: wide.run(torch.from_dlpack(wide.run(big)[0])),
             lambda: raises(ValueError, "shape", lambda: wide.run(torch.ones(255, 1024)))])


def tensorflow_test(tf):
    with tf.device("CPU:0"):
        x, k = tf.constant(X), tf.constant(K)
    to, take = tf.experimental.dlpack.to_dlpack, tf.experimental.dlpack.from_dlpack
    for t, want in zip(corners.run(to(x), to(k)), WANT):
        y = take(t.__dlpack__())
        assert y.dtype.as_numpy_dtype == want.dtype and (y.numpy() == want).all()
    raises(ValueError, "expected f32", lambda: corners.run(to(tf.cast(x, tf.float64)), to(k)))
    big = tf.ones([256, 1024])
    no_leak([lambda: wide.run(to(big)), lambda: take(wide.run(to(big))[0].__dlpack__()),
             lambda: wide.run(to(take(wide.run(to(big))[0].__dlpack__())))])


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
numpy_test()
capsule_test()
leak_test()
print("numpy", np.__version__)
for name, test in (("torch", torch_test), ("tensorflow", tensorflow_test)):
    try:
        module = importlib.import_module(name)
    except ImportError:
        print(f"skipped: {name} is missing: install {name} from PyPI")
        continue
    test(module)
    print(name, module.__version__)
