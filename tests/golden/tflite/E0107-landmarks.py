# what MediaPipe crops by landmarks is refused with a reason
from tflite_bytes import *

write([tensor("marks", F32, [1, 6]), tensor("matrix", F32, [1, 4, 4])],
      [op("Landmarks2TransformMatrix", [0], [1], custom=b"\0" * 8)], [0], [1])
