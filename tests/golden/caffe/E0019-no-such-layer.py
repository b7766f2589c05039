# weights that have no layer of this name
# arenac: plan other.prototxt squares.caffemodel
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
net = (models / "squares.prototxt").read_text().replace('name: "ip"', 'name: "other"')
pathlib.Path("other.prototxt").write_text(net)
pathlib.Path("squares.caffemodel").write_bytes((models / "squares.caffemodel").read_bytes())
