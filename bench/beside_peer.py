"""One figure of another system; beside.py runs this in a Python that has its package.

    beside_peer.py tflm MODEL.tflite ARENA     exit 0: TFLite Micro runs it in so many bytes
    beside_peer.py ort MODEL.onnx ARENA        exit 0: ONNX Runtime runs it with an allocator that has so many bytes
    beside_peer.py tvm MODEL.onnx OUT.c        C of TVM; prints storage= bytes of its memory plan, include= folders

"""
import os
import sys


def tflm(model, arena):
    from tflite_micro import runtime
    interpreter = runtime.Interpreter.from_file(model, arena_size=int(arena))
    interpreter.invoke()


def ort(model, arena):
    """The arena grows exactly by each request, so that its limit is the memory of a run's activations."""
    import numpy as np
    import onnxruntime as rt
    kind = rt.OrtMemoryInfo("Cpu", rt.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, rt.OrtMemType.DEFAULT)
    rt.create_and_register_allocator(kind, rt.OrtArenaCfg({
        "max_mem": int(arena), "arena_extend_strategy": 1, "initial_chunk_size_bytes": -1,
        "max_dead_bytes_per_chunk": -1, "initial_growth_chunk_size_bytes": -1}))
    options = rt.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.use_env_allocators", "1")
    session = rt.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
    inputs = {i.name: np.zeros(i.shape, types[i.type]) for i in session.get_inputs()}
    for _ in range(3):  # the memory pattern is known after the first
        session.run(None, inputs)


def tvm(model, to):
    """TVM's pipeline `zero` (fusion, no tuning), which needs no measurements on a board, for target `c`."""
    import glob
    import warnings
    import onnx
    import tvm as t
    import tvm_ffi
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    warnings.simplefilter("ignore")
    target = t.target.Target("c")
    module = relax.get_pipeline("zero")(from_onnx(onnx.load(model), keep_params_in_input=False))
    passes = relax.transform
    with target:
        made = t.compile(module, target)
        planned = t.transform.Sequential([passes.RewriteDataflowReshape(), passes.ToNonDataflow(),
                                          passes.RemovePurityChecking(), passes.CallTIRRewrite(),
                                          passes.StaticPlanBlockMemory()])(module)
    with open(to, "w", encoding="utf-8") as f:
        f.writelines(m.inspect_source() for m in made.mod.imports if m.kind == "c")
    sizes = []

    def visit(e):
        if isinstance(e, relax.Call) and isinstance(e.op, t.ir.Op) and e.op.name == "relax.memory.alloc_storage":
            sizes.append(e.args[0].values[0])

    relax.analysis.post_order_visit(planned["main"], visit)
    print("storage=%d" % sum(map(int, sizes)))
    for package in (t, tvm_ffi):
        for folder in glob.glob(os.path.join(os.path.dirname(package.__file__), "include")):
            print("include=%s" % folder)


if __name__ == "__main__":
    {"tflm": tflm, "ort": ort, "tvm": tvm}[sys.argv[1]](*sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # what an interpreter does at its end is not measured
