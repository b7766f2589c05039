"""Tree models as people export them: scikit-learn, XGBoost and LightGBM through skl2onnx and onnxmltools.

    trees.py DIR [SEED]        writes NAME.onnx, NAME.x.npy and ONNX Runtime's NAME.y0.npy, NAME.y1.npy into DIR

Needs onnxruntime, scikit-learn, skl2onnx, onnxmltools, lightgbm and xgboost from PyPI.
"""
import pathlib
import sys

import lightgbm
import numpy as np
import onnxruntime as ort
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as LegacyFloats
from skl2onnx import to_onnx
from sklearn import ensemble, tree
from sklearn.datasets import make_classification, make_regression

out = pathlib.Path(sys.argv[1])
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
out.mkdir(parents=True, exist_ok=True)
F = np.float32


def data(classes, rows=600, features=12):
    if classes:
        x, y = make_classification(rows, features, n_informative=8, n_classes=classes, random_state=seed)
    else:
        x, y = make_regression(rows, features, n_informative=8, random_state=seed)
        y = y / np.abs(y).max()
    return x.astype(F), y


def save(name, proto, x):
    path = out / (name + ".onnx")
    path.write_bytes(proto.SerializeToString())
    np.save(out / (name + ".x.npy"), x)
    s = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for i, y in enumerate(s.run(None, {s.get_inputs()[0].name: x})):
        if isinstance(y, list):  # maps: probabilities in the order of the classes
            y = np.array([[row[k] for k in sorted(row)] for row in y], F)
        if y.dtype.kind in "OU":  # names: the number of the class
            y = np.searchsorted(np.unique(y), y)
        np.save(out / ("%s.y%d.npy" % (name, i)), y)
    print(name)


for classes in (0, 2, 4) if __name__ == "__main__" else ():
    x, y = data(classes)
    test = x[:64]
    kind = "regressor" if not classes else "classifier%d" % classes
    suffix = "Classifier" if classes else "Regressor"
    for name, model in (
            ("tree", getattr(tree, "DecisionTree" + suffix)(max_depth=6, random_state=seed)),
            ("forest", getattr(ensemble, "RandomForest" + suffix)(20, max_depth=8, random_state=seed)),
            ("extra", getattr(ensemble, "ExtraTrees" + suffix)(20, max_depth=8, random_state=seed)),
            ("boosting", getattr(ensemble, "GradientBoosting" + suffix)(n_estimators=20, random_state=seed)),
            ("hist", getattr(ensemble, "HistGradientBoosting" + suffix)(max_iter=20, random_state=seed))):
        model.fit(x, y)
        for zipped in ((True, False) if classes else (False,)):
            options = {id(model): {"zipmap": zipped}} if classes else None
            try:
                save("skl_%s_%s%s" % (name, kind, ".zip" if zipped else ""), to_onnx(model, x[:1], options=options), test)
            except Exception as e:  # noqa: BLE001 - what the exporter cannot do
                print("skl_%s_%s: %s" % (name, kind, str(e).split("\n")[0]))
    f = [("input", LegacyFloats([None, x.shape[1]]))]
    boosted = getattr(xgboost, "XGB" + suffix)(n_estimators=20, max_depth=6, random_state=seed).fit(x, y)
    save("xgb_" + kind, convert_xgboost(boosted, initial_types=f), test)
    light = getattr(lightgbm, "LGBM" + suffix)(n_estimators=20, random_state=seed, verbose=-1).fit(x, y)
    save("lgbm_" + kind, convert_lightgbm(light, initial_types=f), test)
