"""Runs every model of a folder that trees.py and its like have written through arenac, and compares.

    check.py ARENAC DIR [option of arenac run]...
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

arenac, folder, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
bad = 0
for path in sorted([*folder.glob("*.onnx"), *(p.parent for p in folder.glob("*/saved_model.pb"))]):
    name = path.stem
    with tempfile.TemporaryDirectory() as out:
        inputs = [a for i, x in enumerate(sorted(folder.glob(name + ".x*.npy"))) for a in ("--input", "%d=%s" % (i, x))]
        r = subprocess.run([arenac, "run", "-q", path, *inputs, "--output-dir", out, *options], capture_output=True,
                           text=True)
        why = r.stderr.strip() if r.returncode else None
        for want in sorted(folder.glob(name + ".y*.npy")) if not why else []:
            y, got = np.load(want, allow_pickle=True), np.load("%s/%s.npy" % (out, want.stem.rsplit("y", 1)[1]))
            if y.dtype == object or got.shape != y.shape:
                y = y.reshape(got.shape) if y.size == got.size and y.dtype != object else None
            if y is None or not np.allclose(got, y, 1e-4, 1e-4):
                why = "%s differs: %s" % (want.name, "shape or type" if y is None else np.abs(got - y).max())
        bad += why is not None
        print(name, "agrees" if why is None else why)
sys.exit(bad != 0)
