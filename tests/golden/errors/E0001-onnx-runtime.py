# ONNX Runtime's own format: the file that it was made of is needed
open("model.ort", "wb").write(b"\x1c\x00\x00\x00ORTM" + bytes(64))
