# a symbol that ends in the middle
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
pathlib.Path("short.json").write_bytes((models / "dense-symbol.json").read_bytes()[:400])
