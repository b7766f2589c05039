# weights that end in the middle
# arenac: plan squares.prototxt short.caffemodel
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
pathlib.Path("squares.prototxt").write_bytes((models / "squares.prototxt").read_bytes())
pathlib.Path("short.caffemodel").write_bytes((models / "squares.caffemodel").read_bytes()[:3000])
