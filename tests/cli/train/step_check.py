"""Judges what step_main wrote: losses and weights are those of `arenac train`, to the bit; outputs those of the trained
model. usage: step_check.py GOT LOG.csv TRAINED.npz OUTPUT.npy"""
import csv
import sys

import numpy as np

got, log, trained, output = sys.argv[1:]
rows = [line.split() for line in open(got)]
losses = [float(r[1]) for r in rows if r[0] == "loss"]
want = [float(r["loss"]) for r in csv.DictReader(open(log))]
assert np.array_equal(np.array(losses, "f4"), np.array(want, "f4")), (losses, want)
values = {r[0]: np.array(r[1:], "f4") for r in rows}
weights = np.load(trained)
for name in weights.files:
    assert np.array_equal(values[name], weights[name].ravel()), name
y = np.load(output).ravel()
logits = values["logits"]
n = min(len(logits), len(y))
assert np.allclose(logits[:n], y[:n], rtol=1e-4, atol=1e-5), (logits, y)
