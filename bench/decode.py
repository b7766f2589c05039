#!/usr/bin/env python3
"""A step of a language model, one token: milliseconds, bytes of weights read a second, and peers on the same weights.

    bench/decode.py                          weights of 32, 8 and 4 bits, two threads
    bench/decode.py --bits 4 --threads 1 --rounds 200

The model is that of examples/language-model/model.py with random weights, larger than the caches. A step reads all of
them once, so memory limits its speed: the table has its share of the copy bandwidth that shared/bench/peak.c measures
in the same run (bytes read of ours against bytes read and written of the copy). ONNX Runtime runs the same file;
llama.cpp (llama-cpp-python, with gguf to write its file) a model of the same shape with Q4_0, Q8_0 or f32 weights.
Missing packages are skipped. Steps of all programs alternate, minima count; a busy machine makes all of them slower,
though not alike."""
import argparse
import ctypes
import importlib.util
import os
import subprocess
import sys
import time

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ROWS, AT = 64, 8  # of the caches; the step that is timed comes after so many


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--arenac", default=os.path.join(ROOT, "build", "arenac"))
    p.add_argument("--shared", default=os.path.join(os.path.dirname(ROOT), "shared"))
    p.add_argument("--work", default=os.path.join(ROOT, "build", "bench", "decode"))
    p.add_argument("--target", default="native")
    p.add_argument("--cc", default=os.environ.get("CC", "cc"))
    p.add_argument("--bits", default="32,8,4")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=60)
    for name, value in (("layers", 8), ("width", 1024), ("hidden", 2816), ("heads", 16), ("vocab", 8192)):
        p.add_argument("--" + name, type=int, default=value)
    return p.parse_args()


def model_module():
    spec = importlib.util.spec_from_file_location("model", os.path.join(ROOT, "examples/language-model/model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(a, bits):
    """The file of the model, and the bytes of the weights that a step reads."""
    flags = ["--%s=%d" % (k, getattr(a, k)) for k in ("layers", "width", "hidden", "heads", "vocab")]
    path = os.path.join(a.work, "step%d.onnx" % bits)
    module = model_module()
    if not os.path.exists(path):
        onnx.save(module.made(module.options([path, "--bits=%d" % bits, "--rows=%d" % ROWS] + flags)), path)
    weights = a.layers * (4 * a.width * a.width + 3 * a.width * a.hidden) + a.vocab * a.width
    return path, weights * bits // 8 + (0 if bits == 32 else weights // module.BLOCK * 4)


def run(*command, cwd=None):
    r = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if r.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), r.stdout, r.stderr))
    return r.stdout


def arenac(a, path, bits):
    """A function that makes a step and returns its milliseconds."""
    at = os.path.join(a.work, "c%d" % bits)
    os.makedirs(at, exist_ok=True)
    threads = ["--threads", str(a.threads)] if a.threads > 1 else []
    run(a.arenac, "compile", "-q", path, "--dim", "past=%d" % (ROWS - 1), "--state", "present*=past*", "-t", a.target,
        "--name", "lm", "--weights", "asm", "-o", "lm.c", *threads, cwd=at)
    runtime = os.path.join(ROOT, "runtime")
    pool = [os.path.join(runtime, "arn_pool.c"), "-pthread"] if threads else []
    native = ["-march=native"] if a.target == "native" else []
    run(a.cc, "-O2", *native, "-ffp-contract=off", "-shared", "-fPIC", "-I.", "-I" + runtime, "lm.c",
        os.path.join(HERE, "time_decode.c"), *pool, "-o", "decode.so", cwd=at)
    library = ctypes.CDLL(os.path.join(at, "decode.so"))
    library.decode_step.restype = ctypes.c_double
    if library.decode_open():
        sys.exit("decode_open failed")
    for n in range(AT):
        library.decode_step(n, n)
    return lambda: library.decode_step(5, AT), library.decode_close


def ort(a, path):
    import onnxruntime
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = a.threads
    session = onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])
    feed = {"token": np.array([[5]]), "position_ids": np.array([[AT]])}
    for i in session.get_inputs():
        if i.name.startswith("past"):
            feed[i.name] = np.zeros((1, a.heads, AT, a.width // a.heads), np.float32)

    def step():
        begin = time.perf_counter()
        session.run(None, feed)
        return (time.perf_counter() - begin) * 1e3
    return step


def gguf_file(a, bits):
    import gguf
    kind = {4: gguf.GGMLQuantizationType.Q4_0, 8: gguf.GGMLQuantizationType.Q8_0,
            32: gguf.GGMLQuantizationType.F32}[bits]
    path = os.path.join(a.work, "step%d.gguf" % bits)
    if os.path.exists(path):
        return path
    w, r = gguf.GGUFWriter(path, "llama"), np.random.default_rng(1)
    w.add_context_length(ROWS), w.add_embedding_length(a.width), w.add_block_count(a.layers)
    w.add_feed_forward_length(a.hidden), w.add_head_count(a.heads), w.add_head_count_kv(a.heads)
    w.add_rope_dimension_count(a.width // a.heads), w.add_layer_norm_rms_eps(1e-5), w.add_vocab_size(a.vocab)
    w.add_tokenizer_model("none")

    def matrix(name, rows, columns):
        v = r.standard_normal((rows, columns), np.float32) * np.float32(columns**-0.5)
        w.add_tensor(name + ".weight", gguf.quants.quantize(v, kind), raw_dtype=kind)

    norm = lambda name: w.add_tensor(name + ".weight", np.ones(a.width, np.float32))
    matrix("token_embd", a.vocab, a.width)
    for b in ("blk.%d." % i for i in range(a.layers)):
        norm(b + "attn_norm"), norm(b + "ffn_norm")
        for name in ("q", "k", "v", "output"):
            matrix(b + "attn_" + name, a.width, a.width)
        matrix(b + "ffn_gate", a.hidden, a.width), matrix(b + "ffn_up", a.hidden, a.width)
        matrix(b + "ffn_down", a.width, a.hidden)
    norm("output_norm"), matrix("output", a.vocab, a.width)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file()
    w.close()
    return path


def llama(a, bits):
    import llama_cpp
    model = llama_cpp.Llama(gguf_file(a, bits), n_ctx=ROWS, n_batch=ROWS, n_threads=a.threads,
                            n_threads_batch=a.threads, verbose=False)
    for n in range(AT):
        model.eval([n])

    def step():
        model.n_tokens = AT
        begin = time.perf_counter()
        model.eval([5])
        return (time.perf_counter() - begin) * 1e3
    return step


def optional(make, name):
    try:
        return make()
    except Exception as e:
        print("%s is left out: %s" % (name, str(e).splitlines()[0] if str(e) else type(e).__name__))
        return None


def copy_bandwidth(peak, a):
    lines = run(peak, str(a.threads), "0.1").splitlines()
    return next(float(x.split()[1]) for x in lines if x.startswith("bw_copy_128M"))


def main():
    a = options()
    source = os.path.join(a.shared, "bench", "peak.c")
    if not os.path.exists(source):
        print("skipped: %s is missing" % source)
        return
    os.makedirs(a.work, exist_ok=True)
    peak = os.path.join(a.work, "peak")
    run(a.cc, "-O2", "-pthread", source, "-o", peak)
    print("%d layers, width %d, hidden %d, vocabulary %d, %d threads" %
          (a.layers, a.width, a.hidden, a.vocab, a.threads))
    print("%-8s%9s%9s%9s%9s%14s%14s" % ("weights", "MB", "ms", "GB/s", "of copy", "ONNX Runtime", "llama.cpp"))
    for bits in map(int, a.bits.split(",")):
        path, size = written(a, bits)
        ours, close = arenac(a, path, bits)
        peers = [optional(lambda: ort(a, path), "ONNX Runtime"), optional(lambda: llama(a, bits), "llama.cpp")]
        best, copies = [1e9, 1e9, 1e9], [copy_bandwidth(peak, a)]
        for _ in range(a.rounds):
            for i, step in enumerate([ours] + peers):
                if step:
                    best[i] = min([best[i]] + [step() for _ in range(5)])
        copies.append(copy_bandwidth(peak, a))
        close()
        rate = size / best[0] / 1e6
        times = ["%10.2f of it" % (best[0] / t) if t < 1e9 else "%14s" % "-" for t in best[1:]]
        print("%-8s%9.1f%9.3f%9.1f%8.0f%%%s%s" %
              ("f32" if bits == 32 else "%d bits" % bits, size / 1e6, best[0], rate, 100 * rate / max(copies),
               *(t.rjust(14) for t in times)), flush=True)


if __name__ == "__main__":
    main()
