"""What reading costs: models of 1 GB in sparse files are planned without their weights coming into memory, small files
that claim to be large do not get the memory they claim, and code is made in twice the weights, often in little more
than them.

    large.py ARENAC [--time]

Prints the most memory that any run took (resident, so pages of the mapped file count as far as they were touched); more
than 200 MiB is a failure, unless code is made. --time prints how long each run took, too; it is never judged."""
import hashlib
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models"))
from wire import data as field, head, number, varint

arenac = sys.argv[1]
LIMIT = 200 * 1024  # KiB
SIDE = 16384        # of a matrix of 1 GiB in f32
FIRST = struct.pack("<f", 1)
bad = 0


def sparse(path, before, size, after=b""):
    """Data of FIRST and zeros: equal elements would be computed, not stored."""
    with open(path, "wb") as f:
        f.write(before + FIRST)
        f.seek(size - len(FIRST), os.SEEK_CUR)
        f.write(after)
        f.truncate(len(before) + size + len(after))


def run(what, statuses, *args, limit=LIMIT):
    global bad
    start = time.time()
    with tempfile.TemporaryFile() as said:
        p = subprocess.Popen([arenac, *map(str, args)], stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode(errors="replace")
    took, most = time.time() - start, usage.ru_maxrss
    if "--time" in sys.argv:
        print(f"{what:40} exit {p.returncode}  {took:6.2f} s  {most / 1024:.0f} MiB")
    if p.returncode not in statuses or most > limit:
        print(f"{what}: exit {p.returncode}, {most / 1024:.0f} MiB\n{text[:500]}")
        bad = 1


def params(shape, size, claimed=1):
    head = struct.pack("<QQQ", 0x112, 0, claimed)
    head += struct.pack("<IiI", 0xF993FAC9, 0, len(shape)) + struct.pack(f"<{len(shape)}q", *shape)
    name = b"arg:w"
    return head + struct.pack("<iii", 1, 0, 0), size, struct.pack("<QQ", 1, len(name)) + name


SYMBOL = '''{"nodes": [{"op": "null", "name": "data", "inputs": []}, {"op": "null", "name": "w", "inputs": []},
 {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "%d", "no_bias": "True"},
  "inputs": [[0, 0, 0], [1, 0, 0]]}],
 "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}'''
NET = '''input: "x" input_shape { dim: 1 dim: %d }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "y"
        inner_product_param { num_output: %d bias_term: false } }'''


def tf(shape, size, content=True):
    """Before the bytes of the constant, their number, after them: y = x * w."""
    dims = b"".join(field(2, number(1, d)) for d in shape)
    tensor = number(1, 1) + field(2, dims) + (head(4, size) if content else b"")
    value = head(8, len(tensor) + (size if content else 0)) + tensor
    value_len = len(value) + (size if content else 0)
    entry = field(1, b"value") + head(2, value_len) + value
    entry_len = len(entry) + (size if content else 0)
    dtype = field(5, field(1, b"dtype") + field(2, number(6, 1)))
    node = field(1, b"w") + field(2, b"Const") + dtype + head(5, entry_len) + entry
    node_len = len(node) + (size if content else 0)
    x_shape = field(7, field(2, number(1, 1)) + field(2, number(1, SIDE)))
    x = field(1, b"x") + field(2, b"Placeholder") + dtype + field(5, field(1, b"shape") + field(2, x_shape))
    y = field(1, b"y") + field(2, b"MatMul") + field(3, b"x") + field(3, b"w")
    return field(1, x) + head(1, node_len) + node, size if content else 0, field(1, y)


def caffe(shape, size):
    blob = field(7, field(1, b"".join(varint(d) for d in shape))) + head(5, size)
    layer = field(1, b"fc") + field(2, b"InnerProduct") + head(7, len(blob) + size) + blob
    return head(100, len(layer) + size) + layer, size, b""


def onnx(rows, columns, data):
    """y = x * w, with weights in the file `data` next to it."""
    def value(name, *dims):
        shape = b"".join(field(1, number(1, d)) for d in dims)
        return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
    place = field(13, field(1, b"location") + field(2, data.encode()))
    w = number(1, rows) + number(1, columns) + number(2, 1) + field(8, b"w") + place + number(14, 1)
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"MatMul")
    graph = field(1, node) + field(2, b"g") + field(5, w) + field(11, value(b"x", 1, rows))
    return number(1, 8) + field(7, graph + field(12, value(b"y", 1, columns))) + field(8, number(2, 17))


def large(t):
    size = SIDE * SIDE * 4
    (t / "s.json").write_text(SYMBOL % SIDE)
    sparse(t / "l.params", *params((SIDE, SIDE), size))
    dims = ["--dim", "data.0=1", "--dim", f"data.1={SIDE}"]
    run("1 GiB .params", [0], "plan", "-q", t / "s.json", t / "l.params", *dims)
    sparse(t / "l.pb", *tf((SIDE, SIDE), size))
    run("1 GiB .pb", [0], "plan", "-q", t / "l.pb")
    (t / "n.prototxt").write_text(NET % (SIDE, SIDE))
    sparse(t / "l.caffemodel", *caffe((SIDE, SIDE), size))
    run("1 GiB .caffemodel", [0], "plan", "-q", t / "n.prototxt", t / "l.caffemodel")
    sparse(t / "l.onnx.data", b"", size)
    (t / "l.onnx").write_bytes(onnx(SIDE, SIDE, "l.onnx.data"))
    run("1 GiB beside an .onnx", [0], "plan", "-q", t / "l.onnx")
    header = f"arenac-weights 1 bytes {128 + size} sha256 {'0' * 64}"
    sparse(t / "l.weights", header.ljust(127).encode() + b"\n", size)
    (t / "l.ag").write_text(f'weights "l.weights" {128 + size} "{"0" * 64}"\ngraph l {{\n  input x: f32[1,{SIDE}]\n'
                            f"  const w: f32[{SIDE},{SIDE}] = weights @128\n"
                            "  y = fully_connected(x, w, _)\n  output y\n}\n")
    run("1 GiB .weights", [0], "plan", "-q", t / "l.ag")
    # the model is compared with itself with more room, and its weights are the same bytes of one file
    (t / "k.ag").write_text((t / "l.ag").read_text().replace("  const w", f"  input k: f32[n,{SIDE}]\n  const w")
                            .replace("  output y", "  new_k = concatenation(k, y) axis=0\n  output y, new_k"))
    run("1 GiB .weights and a cache that grows", [0], "plan", "-q", t / "k.ag", "--dim", "n=3", "--state", "new_k=k")


def compiled(t):
    """Weights are there twice at most: as the file has them, and as the code wants them."""
    size = 128 << 20
    sparse(t / "c.pb", *tf((SIDE, size // SIDE // 4), size))
    most = (2 * size + (100 << 20)) // 1024
    run("128 MiB .pb, compile", [0], "compile", "-q", t / "c.pb", "-t", "generic", "-o", t / "c.c", limit=most)
    if (t / "c.c.bin").stat().st_size != size + 64:
        sys.exit(f"{(t / 'c.c.bin').stat().st_size} bytes of weights")
    if shutil.which(os.environ.get("CC", "cc")):
        run("128 MiB .pb, run", [0], "run", "-q", t / "c.pb", "--random", 1, "--output-dir", t, limit=most)


def packed(t):
    """While weights are packed, the pages read from the file are released: memory holds them once, plus 60 MB for pages
    and code."""
    size, more = 128 << 20, 60 << 20
    sha = hashlib.sha256()
    sha.update(FIRST + bytes((1 << 20) - len(FIRST)))
    for _ in range(127):
        sha.update(bytes(1 << 20))
    header = f"arenac-weights 1 bytes {128 + size} sha256 {sha.hexdigest()}"
    sparse(t / "p.weights", header.ljust(127).encode() + b"\n", size)
    rows = size // SIDE // 4
    (t / "p.ag").write_text(f'weights "p.weights" {128 + size} "{sha.hexdigest()}"\n'
                            f"graph p {{\n  input x: f32[1,{SIDE}]\n"
                            f"  const w: f32[{rows},{SIDE}] = weights @128\n"
                            "  y = fully_connected(x, w, _)\n  output y\n}\n")
    run("128 MiB .weights, packed", [0], "compile", "-q", t / "p.ag", "-t", "x86-64-v3", "-o", t / "p.c",
        limit=(size + more) // 1024)


def claimed(t):
    huge, small = [1, 8], (0, 1, 2, 8)
    (t / "s.json").write_text(SYMBOL % 8)
    dims = ["--dim", "data.0=1", "--dim", "data.1=8"]
    for what, file in {"2^40 elements": params((1 << 20, 1 << 20), 64), "2^62 elements": params((1 << 31, 1 << 31), 64),
                       "2^40 arrays": params((8, 8), 256, 1 << 40),
                       "2^63 arrays": params((8, 8), 256, 1 << 63)}.items():
        sparse(t / "c.params", *file)
        run(f".params, {what}", huge, "plan", "-q", t / "s.json", t / "c.params", *dims)
    name = b"".join(params((8, 8), 0)[:1]) + bytes(256) + struct.pack("<QQ", 1 << 40, 1 << 40)
    (t / "c.params").write_bytes(name)
    run(".params, 2^40 names", huge, "plan", "-q", t / "s.json", t / "c.params", *dims)
    rows = struct.pack("<QQQIiIqq", 0x112, 0, 1, 0xF993FAC9, 1, 2, 1 << 30, 8)
    rows += struct.pack("<I2qiii", 2, 1 << 30, 8, 1, 0, 0) + bytes(64)
    (t / "c.params").write_bytes(rows)
    run(".params, sparse rows", huge, "plan", "-q", t / "s.json", t / "c.params", *dims)
    (t / "b.json").write_text(SYMBOL % 2000000000)
    run("symbol, 2e9 outputs without weights", small, "plan", "-q", t / "b.json", *dims)
    for what, file in {"2^40 elements": tf((1 << 20, 1 << 20), 64), "2^62 elements": tf((1 << 31, 1 << 31), 64),
                       "a splat": tf((1 << 15, 1 << 15), 0, False),
                       "a splat of 2^40": tf((1 << 20, 1 << 20), 0, False)}.items():
        sparse(t / "c.pb", *file)
        run(f".pb, {what}", small, "plan", "-q", t / "c.pb")
    (t / "c.pb").write_bytes(field(1, field(1, b"w") + field(2, b"Const") + head(5, 1 << 40)))
    run(".pb, a field of 2^40 bytes", huge, "plan", "-q", t / "c.pb")
    (t / "n.prototxt").write_text(NET % (8, 8))
    for what, file in {"2^40 elements": caffe((1 << 20, 1 << 20), 64),
                       "2^62 elements": caffe((1 << 31, 1 << 31), 64)}.items():
        sparse(t / "c.caffemodel", *file)
        run(f".caffemodel, {what}", huge, "plan", "-q", t / "n.prototxt", t / "c.caffemodel")
    (t / "c.caffemodel").write_bytes(head(100, 1 << 40) + field(1, b"fc"))
    run(".caffemodel, a layer of 2^40 bytes", huge, "plan", "-q", t / "n.prototxt", t / "c.caffemodel")
    (t / "b.prototxt").write_text(NET % (30000, 60000))
    run("net, 1.8e9 parameters without weights", small, "plan", "-q", t / "b.prototxt")
    for value in ("weights @128", 'file "c.pb"', "hex \"00\"", "[1]"):
        (t / "c.ag").write_text(f"graph c {{\n  const w: f32[40000,40000] = {value}\n  output w\n}}\n")
        run(f"text, {value}", huge, "plan", "-q", t / "c.ag")
    (t / "c.ag").write_text("graph c {\n  const w: f32[40000,40000] = splat 1\n  input x: f32[1,40000]\n"
                            "  y = fully_connected(x, w, _)\n  output y\n}\n")
    run("text, a splat of 6.4 GB", [0], "plan", "-q", t / "c.ag")


def intervals(t):
    """A CSV is mapped and read entirely: once in memory, and it counts."""
    with open(t / "wide.csv", "wb") as f:
        f.write(b"id,lower,upper,size,offset,note\na,0,1,1,0,")
        for _ in range(60):
            f.write(b"x" * (1 << 20))
    for verb in ("plan", "verify"):
        run(f"csv of 60 MB, {verb}", [0], verb, "-q", t / "wide.csv", "--max-memory", "80M", limit=90 * 1024)
        run(f"csv of 60 MB in 50 MB, {verb}", [1], verb, "-q", t / "wide.csv", "--max-memory", "50M", limit=90 * 1024)


with tempfile.TemporaryDirectory() as t:
    intervals(pathlib.Path(t))
    claimed(pathlib.Path(t))
    large(pathlib.Path(t))
    packed(pathlib.Path(t))
    compiled(pathlib.Path(t))
print(f"at most {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")
sys.exit(bad)
