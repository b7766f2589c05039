# 95 % of a file
# arenac: plan --emit tflite -o -
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
data = bytearray((models / "digits_int8.tflite").read_bytes())
pathlib.Path("cut.tflite").write_bytes(data[:len(data) * 95 // 100])
