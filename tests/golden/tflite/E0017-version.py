# a version of the schema that arenac does not read
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
data = bytearray((models / "digits_int8.tflite").read_bytes())
root = int.from_bytes(data[0:4], "little")
table = root - int.from_bytes(data[root:root + 4], "little", signed=True)
version = root + int.from_bytes(data[table + 4:table + 6], "little")
data[version] = 9
pathlib.Path("version.tflite").write_bytes(data)
