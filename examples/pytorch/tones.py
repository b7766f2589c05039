"""A small net that tells four tones apart, from PyTorch to firmware: trained, compiled, quantised, written as C."""
import arenac
import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
time = torch.arange(128) / 128


def tones(count):
    """Noisy tones of 4 to 7 periods, and which they are."""
    kind = torch.randint(4, (count,))
    phase = 6.28 * (time * (kind[:, None] + 4) + torch.rand(count, 1))
    return torch.sin(phase)[:, None] + 0.3 * torch.randn(count, 1, 128), kind


net = nn.Sequential(
    nn.Conv1d(1, 8, 16, stride=4), nn.BatchNorm1d(8), nn.ReLU(),
    nn.Conv1d(8, 16, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 13, 4))
step = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(60):
    x, kind = tones(64)
    loss = nn.functional.cross_entropy(net(x), kind)
    step.zero_grad()
    loss.backward()
    step.step()
net.eval()
x, kind = tones(1)
batches = [tones(32) for _ in range(4)]

m = arenac.compile(net, x)                     # an nn.Module and example inputs
q = arenac.quantize(net, calibration=batches)  # int8, with a report of what it costs
q.emit("tones.c", target="cortex-m4")          # firmware

print("PyTorch and arenac agree:", torch.allclose(m(x), net(x), atol=1e-4))
print("NumPy in, NumPy out:", type(m(x.numpy())).__name__)
print(q)
small, (test, kind) = q.compile(), tones(200)
right = sum(int(small(one[None].numpy()).argmax()) == k for one, k in zip(test, kind.tolist()))
print("int8 is right in %s of 200" % ("190 or more" if right >= 190 else right))

fast = torch.compile(net, backend="arenac")
with torch.inference_mode():
    print("torch.compile agrees:", torch.allclose(fast(x), net(x), atol=1e-4))
