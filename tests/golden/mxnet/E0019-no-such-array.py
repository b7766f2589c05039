# weights that have no array of this name
# arenac: plan m.json dense-0000.params --dim data.0=1 --dim data.1=12
import pathlib

models = pathlib.Path(__file__).resolve().parents[3] / "models"
text = (models / "dense-symbol.json").read_text().replace('fc2_bias', 'other')
pathlib.Path("m.json").write_text(text)
pathlib.Path("dense-0000.params").write_bytes((models / "dense-0000.params").read_bytes())
