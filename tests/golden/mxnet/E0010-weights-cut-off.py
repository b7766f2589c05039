# weights that end in the middle
# arenac: plan dense-symbol.json short.params
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
pathlib.Path("dense-symbol.json").write_bytes((models / "dense-symbol.json").read_bytes())
pathlib.Path("short.params").write_bytes((models / "dense-0000.params").read_bytes()[:300])
