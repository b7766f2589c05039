# weights that the net does not expect
# arenac: plan six.prototxt squares.caffemodel
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
net = (models / "squares.prototxt").read_text().replace("num_output: 5", "num_output: 6")
pathlib.Path("six.prototxt").write_text(net)
pathlib.Path("squares.caffemodel").write_bytes((models / "squares.caffemodel").read_bytes())
