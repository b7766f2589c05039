"""@NAME@ - made by arenac @VERSION@ from @SOURCE@. Tensors come and go by DLPack, without a copy.

    import numpy as np, @NAME@
    y, = @NAME@.run(x)                 # x: anything with __dlpack__ on the CPU, or a DLPack capsule
    y, = @NAME@.run({"name": x})       # by name; run(name=x) where the name is a word of Python's
    y = y.numpy()                      # the caller's own: the next run writes elsewhere; np.asarray(y) as well

    m = @NAME@.Model()                 # a context of its own: arena and state; use one in one thread at a time
    m.run(x)                           # a list of Tensor, one for each output
    m.run(x, out=[z])                  # writes into z, which must be writable, compact and of the right type
    m.reset()                          # state tensors back to their first value
    m.seed(5, run=17)                  # random numbers: the next run draws those of run 17 of seed 5

@IO@
"""
import ctypes
import os

_lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib@NAME@.so"))
INPUTS = @INPUTS@   # (name, type, shape, scale, zero point), real = scale * (stored - zero point)
OUTPUTS = @OUTPUTS@
TEXTS = @TEXTS@   # of the model, by code; len(TEXTS) is the code of any other text
_codes = {text: code for code, text in enumerate(TEXTS)}


def text_code(text):
    """The code of a str (or of bytes, in UTF-8); len(TEXTS) if it is another text."""
    return _codes.get(text.decode("utf-8", "replace") if isinstance(text, bytes) else text, len(TEXTS))


def text_at(code):
    """The text of a code; None if there is none."""
    return TEXTS[code] if 0 <= code < len(TEXTS) else None

@CODES@

class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # called with the interpreter's lock held: it may be Python's own


class _Legacy(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):  # DLManagedTensorVersioned
    _fields_ = [("version", _Version), ("ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_READ_ONLY = 1
_LEGACY, _VERSIONED = b"dltensor", b"dltensor_versioned"
_USED = {_LEGACY: b"used_dltensor", _VERSIONED: b"used_dltensor_versioned"}
_KIND = {_LEGACY: _Legacy, _VERSIONED: _Versioned}

_py = ctypes.pythonapi
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", _py))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _py))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _py))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _py))


def _address(library, name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p)


_list = ctypes.POINTER(ctypes.POINTER(_Tensor))
_versioned = ctypes.POINTER(_Versioned)
for _name, _result, _arguments in (
        ("arn_open", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]),
        ("arn_close", None, [ctypes.c_void_p]),
        ("arn_reset_dl", ctypes.c_int, [ctypes.c_void_p]),
        ("arn_seed_dl", ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32]),
        ("arn_why", ctypes.c_char_p, [ctypes.c_void_p]),
        ("arn_run_dl", ctypes.c_int, [ctypes.c_void_p, _list, ctypes.c_size_t, _list, ctypes.c_size_t]),
        ("arn_empty_dl", ctypes.c_int, [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(_versioned)]),
        ("arn_legacy_dl", ctypes.c_void_p, [_versioned]),
        ("arn_capsule_api", None, [ctypes.c_void_p, ctypes.c_void_p])):
    getattr(_lib, _name).restype, getattr(_lib, _name).argtypes = _result, _arguments
_lib.arn_capsule_api(_address(_py, "PyCapsule_IsValid"), _address(_py, "PyCapsule_GetPointer"))
_model = ctypes.addressof(ctypes.c_char.in_dll(_lib, "@NAME@_model"))


def _capsule(pointer, name):
    return _new(pointer, name, _address(_lib, "arn_capsule_dies"))


def _delete(managed):
    if managed.contents.deleter:
        _deleter(managed.contents.deleter)(ctypes.addressof(managed.contents))


class Tensor:
    """An output with bytes of its own: t.numpy() or np.asarray(t), as often as wanted, t[0], len(t), or given away once
    to whoever takes DLPack: np.from_dlpack(t), torch.from_dlpack(t), ..."""

    def __init__(self, index):
        self.name, self.dtype, self.shape, self.scale, self.zero_point = OUTPUTS[index]
        self._managed, self._array = _versioned(), None
        if _lib.arn_empty_dl(_model, index, ctypes.byref(self._managed)):
            raise MemoryError("output %d '%s'" % (index, self.name))

    def __del__(self):
        if getattr(self, "_managed", None):
            _delete(self._managed)

    def __array__(self, dtype=None, copy=None):
        import numpy
        if self._array is None:
            self._array = numpy.from_dlpack(self)
        if dtype is not None and dtype != self._array.dtype:
            if copy is False:
                raise ValueError("output '%s' is %s; %s takes a copy" % (self.name, self._array.dtype, dtype))
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def texts(self):
        """The texts of codes, as an array of str; None for any other text."""
        import numpy
        codes = self.numpy()
        return numpy.array([text_at(c) for c in codes.ravel().tolist()], dtype=object).reshape(codes.shape)

    def numpy(self):
        """The values as an array, which shares the bytes."""
        return self.__array__()

    def __getitem__(self, at):
        return self.numpy()[at]

    def __len__(self):
        if not self.shape:
            raise TypeError("output '%s' is a single number: it has no len()" % self.name)
        return self.shape[0]

    def __iter__(self):
        return iter(self.numpy())

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if self._array is not None and stream is None and not copy:
            return self._array.__dlpack__()  # NumPy has it, and shares it
        if not self._managed:
            raise BufferError("output '%s' was given away already: keep the tensor that was made of it" % self.name)
        if stream is not None:
            raise BufferError("output '%s' is on the CPU, which has no streams" % self.name)
        if dl_device is not None and tuple(dl_device) != (1, 0):
            raise BufferError("output '%s' is on the CPU and is not copied to another device" % self.name)
        if copy:
            raise BufferError("output '%s' is given away as it is; copy it afterwards" % self.name)
        managed, self._managed = self._managed, None
        if max_version is not None and max_version[0] >= 1:
            return _capsule(ctypes.addressof(managed.contents), _VERSIONED)
        return _capsule(_lib.arn_legacy_dl(managed), _LEGACY)

    def __repr__(self):
        return "<%s %s %s>" % (self.name, self.dtype, list(self.shape))


class _Taken:
    """A tensor of someone else's, ours until close."""

    def __init__(self, x, what, write):
        if not _is_capsule(x):
            if not hasattr(x, "__dlpack__"):
                raise TypeError("%s: %s has no __dlpack__" % (what, type(x).__name__))
            try:
                x = x.__dlpack__(max_version=(1, 0))
            except TypeError:  # from before the keyword
                x = x.__dlpack__()
        for name, kind in _KIND.items():
            if _is_valid(x, name):
                break
        else:
            raise ValueError("%s: the capsule was used already" % what)
        self.managed = ctypes.cast(_pointer(x, name), ctypes.POINTER(kind))
        _rename(x, _USED[name])
        if name == _VERSIONED:
            major, read_only = self.managed.contents.version.major, self.managed.contents.flags & _READ_ONLY
            if major != 1 or (write and read_only):
                self.close()
                raise BufferError("%s: %s" % (what, "DLPack %d is not known here" % major if major != 1 else
                                              "is read only"))
        self.tensor = ctypes.pointer(self.managed.contents.tensor)

    def close(self):
        _delete(self.managed)


def _coded(x, i):
    """x; the codes of texts for an input that holds texts."""
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    if not (isinstance(x, (str, bytes, list, tuple)) or kind in ("U", "S", "O")) or i not in TEXT_INPUTS:
        return x
    import numpy
    x = numpy.asarray(x)
    codes = [text_code(t) for t in x.ravel().tolist()] if x.dtype.kind in "USO" else x
    return numpy.asarray(codes, dtype=numpy.int32).reshape(x.shape)


def _is_capsule(x):
    return type(x).__name__ == "PyCapsule"


def _in_order(inputs, named, model):
    """The inputs of run(...) as a list: in order, a dict by name, or keywords."""
    if len(inputs) == 1 and isinstance(inputs[0], dict):
        inputs, named = (), dict(inputs[0], **named)
    names = [i[0] for i in INPUTS]
    for n in named:
        if n not in names:
            raise TypeError("%s has no input '%s'; its inputs: %s" % (model, n, ", ".join(names)))
        if n in names[:len(inputs)]:
            raise TypeError("input '%s' of %s is given twice" % (n, model))
    rest = [named[n] for n in names[len(inputs):] if n in named]
    if len(inputs) + len(rest) != len(names):
        missing = [n for n in names[len(inputs):] if n not in named]
        raise TypeError("%d inputs given, %s has %d: %s%s" % (
            len(inputs) + len(rest), model, len(names), ", ".join(names),
            "; missing: " + ", ".join(missing) if named and missing else ""))
    return list(inputs) + rest


class Model:
    """Arena, state and weights of one running @NAME@. name: as messages call it."""

    name = "@NAME@"

    def __init__(self):
        why = ctypes.c_char_p()
        self._ctx = _lib.arn_open(_model, None, ctypes.byref(why))
        if not self._ctx:
            raise RuntimeError(why.value.decode())

    def __del__(self):
        if getattr(self, "_ctx", None):
            _lib.arn_close(self._ctx)

    def reset(self):
        _lib.arn_reset_dl(self._ctx)

    def seed(self, seed, run=0):
        """The next run draws the random numbers of run number `run` of `seed`, 64 bits; later runs count on."""
        if not 0 <= seed < 1 << 64 or not 0 <= run < 1 << 32:
            raise ValueError("seed %r, run %r: seeds have 64 bits, runs have 32" % (seed, run))
        if _lib.arn_seed_dl(self._ctx, seed, run):
            raise ValueError(_lib.arn_why(self._ctx).decode())

    def run(self, *inputs, out=None, **named):
        inputs = _in_order(inputs, named, self.name)
        if out is not None and not isinstance(out, (list, tuple)):
            raise TypeError("out is %s, expected a list with a tensor for each output: out=[z]" % type(out).__name__)
        if out is not None and len(out) != len(OUTPUTS):
            raise TypeError("%d outputs given, %s has %d: %s" % (len(out), self.name, len(OUTPUTS),
                                                                 ", ".join(o[0] for o in OUTPUTS)))
        taken, result = [], list(out) if out is not None else [Tensor(i) for i in range(len(OUTPUTS))]
        try:
            for i, x in enumerate(inputs):
                taken.append(_Taken(_coded(x, i), "input %d '%s'" % (i, INPUTS[i][0]), False))
            ins = [t.tensor for t in taken]
            if out is None:
                outs = [ctypes.pointer(t._managed.contents.tensor) for t in result]
            else:
                for i, x in enumerate(result):
                    taken.append(_Taken(x, "output %d '%s'" % (i, OUTPUTS[i][0]), True))
                outs = [t.tensor for t in taken[len(inputs):]]
            array = ctypes.POINTER(_Tensor)
            status = _lib.arn_run_dl(self._ctx, (array * len(ins))(*ins), len(ins),
                                     (array * len(outs))(*outs), len(outs))
        finally:
            for t in taken:
                t.close()
        if status:
            raise ValueError(_lib.arn_why(self._ctx).decode() if status == -1 else
                             "the run stopped with status %d" % status)
        return result


_own = None


def run(*inputs, out=None, **named):
    """Model().run of a context that the module keeps."""
    global _own
    if _own is None:
        _own = Model()
    return _own.run(*inputs, out=out, **named)
