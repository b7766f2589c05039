"""Cases of ai.onnx.ml for beside_ort.py."""
import numpy as np

ML = "ai.onnx.ml"
F = np.float32
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def cases(r, In):
    all_cases = []

    def case(op, operands, attrs=None, results=1, tolerance=1e-5, tag="", opset=17, domain=ML):
        name = op + ("." + tag if tag else "")
        results = [True] * results if isinstance(results, int) else results
        all_cases.append((name, domain, op, operands, attrs or {}, results, tolerance, opset))

    trees(case, r, In)
    features(case, r, In)
    texts(case, r, In)
    linear(case, r, In)
    machines(case, r, In)
    return all_cases


def forest(r, trees, features, depth, modes, prefix, targets, dense=False, one=None, positive=False, missing=False):
    """Attributes of random trees; `one`: the only target; dense: each leaf has a weight for each target."""
    a = {"nodes_" + k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                                    "falsenodeids", "missing_value_tracks_true")}
    w = {prefix + "_" + k: [] for k in ("treeids", "nodeids", "ids", "weights")}

    def add(tree, number, mode, feature=0, value=0.0):
        row = dict(treeids=tree, nodeids=number, featureids=feature, values=float(value), modes=mode, truenodeids=0,
                   falsenodeids=0, missing_value_tracks_true=int(r.integers(2)) if missing else 0)
        for k, v in row.items():
            a["nodes_" + k].append(v)
        return len(a["nodes_modes"]) - 1

    def grow(tree, left):
        number = grow.next
        grow.next += 1
        if left == 0 or (left < depth and r.random() < 0.2):
            add(tree, number, "LEAF")
            for t in range(targets) if dense else [one if one is not None else tree % targets]:
                v = r.random() if positive else r.standard_normal()
                for k, x in (("treeids", tree), ("nodeids", number), ("ids", t), ("weights", float(F(v)))):
                    w[prefix + "_" + k].append(x)
            return number
        at = add(tree, number, str(r.choice(modes)), int(r.integers(features)), F(r.integers(-3, 4) / 2))
        a["nodes_truenodeids"][at] = grow(tree, left - 1)
        a["nodes_falsenodeids"][at] = grow(tree, left - 1)
        return number

    for t in range(trees):
        grow.next = 0
        grow(t, depth)
    if not missing:
        del a["nodes_missing_value_tracks_true"]
    return {**a, **w}


def trees(case, r, In):
    x = (r.integers(-4, 5, (7, 5)) / 2).astype(F)
    holes = np.where(r.random(x.shape) < 0.2, np.nan, x).astype(F)
    R, C = "TreeEnsembleRegressor", "TreeEnsembleClassifier"
    reg = lambda targets, modes=MODES[:1], depth=4, **k: {
        "n_targets": targets, **forest(r, int(r.integers(1, 20)), 5, depth, modes, "target", targets, **k)}
    case(R, [In(x)], reg(1))
    case(R, [In(x)], reg(1, MODES), tag="modes")
    case(R, [In(holes)], reg(1, MODES), tag="nan")
    case(R, [In(holes)], reg(1, MODES[:4], missing=True), tag="missing")
    case(R, [In(holes)], reg(1, MODES[:1], missing=True), tag="missing1")
    case(R, [In(x)], reg(3), tag="targets")
    case(R, [In(x)], reg(3, dense=True), tag="dense")
    for how in ("AVERAGE", "MIN", "MAX"):
        case(R, [In(x)], {**reg(1), "aggregate_function": how}, tag=how)
        case(R, [In(x)], {**reg(3, dense=True), "aggregate_function": how}, tag=how + "3")
    case(R, [In(x)], {**reg(1), "base_values": [0.25]}, tag="base")
    case(R, [In(x)], {**reg(3, dense=True), "base_values": [0.25, 1.0, -1.0]}, tag="bases")
    case(R, [In(x)], {**reg(1), "post_transform": "LOGISTIC"}, tag="logistic")
    case(R, [In(x)], {**reg(3, dense=True), "post_transform": "SOFTMAX"}, tag="softmax")
    case(R, [In(x)], {**reg(3, dense=True), "post_transform": "SOFTMAX_ZERO"}, tag="softmax_zero")
    case(R, [In(x.astype(np.float64))], reg(1, MODES), tag="double")
    case(R, [In(x.astype(np.int64))], reg(1), tag="int64")
    cls = lambda labels, modes=MODES[:1], **k: {
        "classlabels_int64s": labels, **forest(r, int(r.integers(3, 20)), 5, 4, modes, "class", len(labels), **k)}
    case(C, [In(x)], cls([0, 1, 2]), 2)
    case(C, [In(x)], cls([5, 3, 9], dense=True), 2, tag="dense")
    for post in ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
        case(C, [In(x)], {**cls([0, 1, 2], dense=True), "post_transform": post}, 2, tag=post)
    case(C, [In(x)], {**cls([0, 1, 2]), "base_values": [0.5, -0.5, 0.1]}, 2, tag="bases")
    for only in (0, 1):
        for post in ("NONE", "LOGISTIC", "SOFTMAX"):
            t = "one%d.%s" % (only, post)
            case(C, [In(x)], {**cls([0, 1], one=only), "post_transform": post}, 2, tag=t)
            case(C, [In(x)], {**cls([0, 1], one=only, positive=True), "post_transform": post}, 2, tag=t + ".positive")
        case(C, [In(x)], {**cls([4, 7], one=only), "base_values": [0.3]}, 2, tag="one%d.base" % only)
        case(C, [In(x)], {**cls([4, 7], one=only), "base_values": [0.1, 0.3]}, 2, tag="one%d.bases" % only)
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        case(C, [In(x)], {**cls([0, 1], dense=True), "post_transform": post}, 2, tag="two." + post)
        case(C, [In(x)], {**cls([0, 1], dense=True, positive=True), "post_transform": post}, 2,
             tag="two.positive." + post)
    case(C, [In(x)], {**cls([0, 1], dense=True), "base_values": [0.1, 0.3]}, 2, tag="two.bases")


def features(case, r, In):
    f = lambda *d: r.standard_normal(d).astype(F)
    x, whole = f(5, 4), r.integers(-3, 4, (5, 4)).astype(np.int64)
    case("Scaler", [In(x)], {"offset": [float(v) for v in f(4)], "scale": [float(v) for v in f(4)]})
    case("Scaler", [In(whole)], {"offset": [0.5], "scale": [2.0]}, tag="one")
    for norm in ("MAX", "L1", "L2"):
        case("Normalizer", [In(np.concatenate([x, np.zeros((1, 4), F)]))], {"norm": norm}, tag=norm)
        case("Normalizer", [In(np.abs(x))], {"norm": norm}, tag=norm + ".positive")
    holes = np.where(r.random(x.shape) < 0.4, np.nan, x).astype(F)
    case("Imputer", [In(holes)], {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")})
    case("Imputer", [In(whole.astype(F))], {"imputed_value_floats": [9.0], "replaced_value_float": 2.0}, tag="one")
    case("Imputer", [In(whole)], {"imputed_value_int64s": [9], "replaced_value_int64": 2}, tag="whole")
    case("Binarizer", [In(x)], {"threshold": 0.3})
    case("ZipMap", [In(x)], {"classlabels_int64s": [1, 2, 3, 7]})
    case("ArrayFeatureExtractor", [In(x), np.array([2, 0], np.int64)])
    case("FeatureVectorizer", [In(x), In(f(5, 2)), In(f(5, 1))], {"inputdimensions": [4, 2, 1]})
    case("OneHotEncoder", [In(whole)], {"cats_int64s": [-1, 0, 2]})
    every = {"cats_int64s": [-3, -2, -1, 0, 1, 2, 3], "zeros": 0}
    case("OneHotEncoder", [In(whole[:, :1].astype(F))], every, tag="all")
    e = "LabelEncoder"
    keys = [-2, 0, 3]
    case(e, [In(whole)], {"keys_int64s": keys, "values_int64s": [7, 8, 9], "default_int64": 5})
    case(e, [In(whole)], {"keys_int64s": keys, "values_floats": [0.5, 1.5, 2.5], "default_float": -1.0}, tag="float")
    case(e, [In(whole.astype(F))], {"keys_floats": [-2.0, 0.0, 3.0], "values_int64s": [7, 8, 9]}, tag="keys")
    case(e, [In(np.where(whole == 1, np.nan, whole).astype(F))],
         {"keys_floats": [float("nan"), 0.0, 3.0], "values_floats": [7.0, 8.0, 9.0]}, tag="nan")


def texts(case, r, In):
    words = ["red", "green", "", "été", "-12", "0", "7", "a\nb", "green\U0001d11e"]
    x = r.choice(words + ["pink", "gree", "-0", "x" * 99], (5, 4))
    known = r.choice(words, (5, 3))
    whole = r.integers(-13, 9, (5, 4)).astype(np.int64)
    keys = list(r.permutation(words))
    e, n = "LabelEncoder", len(words)
    case("OneHotEncoder", [In(x)], {"cats_strings": keys}, tag="texts")
    case("OneHotEncoder", [In(known[:, 0])], {"cats_strings": keys, "zeros": 0}, tag="texts.all")
    case(e, [In(x)], {"keys_strings": keys, "values_int64s": list(range(n)), "default_int64": 5}, tag="texts")
    case(e, [In(x)], {"keys_strings": keys, "values_floats": [float(v) for v in range(n)]}, tag="texts.float")
    case(e, [In(x)], {"keys_strings": keys[:4], "values_strings": ["a", "red", "b", "a"]}, tag="texts.texts")
    case(e, [In(x)], {"keys_strings": keys + keys, "values_int64s": list(range(2 * n))}, tag="texts.twice")
    case(e, [In(whole)], {"keys_int64s": [-2, 0, 3], "values_strings": ["b", "a", "b"], "default_string": "none"},
         tag="to_texts")
    case(e, [In(whole.astype(F))], {"keys_floats": [-2.0, 0.0, 3.0], "values_strings": ["b", "a", "b"]},
         tag="floats.to_texts")
    case("CategoryMapper", [In(x)], {"cats_strings": keys, "cats_int64s": list(range(n)), "default_int64": -3})
    case("CategoryMapper", [In(whole)], {"cats_strings": keys, "cats_int64s": list(range(n)), "default_string": "-"},
         tag="to_texts")
    lists = np.array(words)  # all words are constants of these models
    case("Concat", [In(known), lists.reshape(3, 3)], {"axis": 0}, tag="texts", domain="")
    case("Gather", [lists, In(r.integers(0, len(lists), (3, 2)))], tag="texts", domain="")
    case("Where", [In(r.random((3, 1)) < 0.5), In(known[:3]), lists.reshape(3, 3)], tag="texts", domain="")
    case("Equal", [In(x), lists[:4]], tag="texts", opset=19, domain="")
    case("Equal", [lists[3], In(x)], tag="texts.scalar", opset=19, domain="")
    case("Size", [In(x)], tag="texts", domain="")
    case("Shape", [In(x)], tag="texts", domain="")
    linear = {"coefficients": [float(v) for v in r.standard_normal(12).astype(F)], "intercepts": [0.1, 0.2, 0.3]}
    case("LinearClassifier", [In(r.standard_normal((6, 4)).astype(F))],
         {**linear, "classlabels_strings": ["c", "a", "b"]}, 2, tag="texts")
    case("LinearClassifier", [In(r.standard_normal((6, 4)).astype(F))],
         {**linear, "classlabels_strings": ["a", "b", "c"]}, 2, tag="texts.sorted")
    trees = forest(r, 5, 5, 4, MODES[:1], "class", 2, dense=True)
    case("TreeEnsembleClassifier", [In((r.integers(-4, 5, (7, 5)) / 2).astype(F))],
         {"classlabels_strings": ["no", "yes"], **trees}, 2, tag="texts")


def linear(case, r, In):
    f = lambda *d: [float(v) for v in r.standard_normal(d).astype(F).ravel()]
    x = r.standard_normal((6, 4)).astype(F)
    posts = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO")
    for post in posts:
        case("LinearRegressor", [In(x)], {"coefficients": f(3, 4), "intercepts": f(3), "targets": 3,
                                          "post_transform": post}, tag=post)
        case("LinearRegressor", [In(x)], {"coefficients": f(4), "intercepts": f(1), "post_transform": post},
             tag="one." + post)
        case("LinearClassifier", [In(x)], {"coefficients": f(3, 4), "intercepts": f(3), "classlabels_ints": [4, 2, 9],
                                           "post_transform": post}, 2, tag=post)
        case("LinearClassifier", [In(x)], {"coefficients": f(2, 4), "intercepts": f(2), "classlabels_ints": [4, 2],
                                           "post_transform": post}, 2, tag="two." + post)
        case("LinearClassifier", [In(x)], {"coefficients": f(1, 4), "intercepts": f(1), "classlabels_ints": [4, 2],
                                           "post_transform": post}, 2, tag="one." + post)
    case("LinearRegressor", [In(x)], {"coefficients": f(4)}, tag="plain")
    case("LinearRegressor", [In(r.integers(-3, 4, (6, 4)).astype(np.int64))], {"coefficients": f(4)}, tag="whole")


def machines(case, r, In):
    f = lambda *d: [float(v) for v in r.standard_normal(d).astype(F).ravel()]
    x = r.standard_normal((6, 4)).astype(F)
    for kernel in ("LINEAR", "RBF", "POLY", "SIGMOID"):
        k = {"kernel_type": kernel, "kernel_params": [0.3, 0.1, 3.0], "support_vectors": f(7, 4)}
        case("SVMRegressor", [In(x)], {**k, "coefficients": f(7), "rho": f(1), "n_supports": 7}, tag=kernel,
             tolerance=1e-4)
        for each in ([3, 4], [2, 3, 2], [2, 2, 1, 2]):
            c = len(each)
            pairs = c * (c - 1) // 2
            a = {**k, "coefficients": f(c - 1, 7), "rho": f(pairs), "vectors_per_class": each,
                 "classlabels_ints": [3, 1, 7, 5][:c]}
            case("SVMClassifier", [In(x)], a, 2, tag="%s.%d" % (kernel, c), tolerance=1e-4)
            case("SVMClassifier", [In(x)], {**a, "prob_a": [-abs(v) for v in f(pairs)], "prob_b": f(pairs)}, 2,
                 tag="%s.%d.prob" % (kernel, c), tolerance=1e-3)
            if kernel == "RBF":
                for post in ("LOGISTIC", "SOFTMAX"):
                    case("SVMClassifier", [In(x)], {**a, "post_transform": post}, 2, tag="%s.%d" % (post, c),
                         tolerance=1e-4)
    line = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0], "coefficients": f(4), "rho": f(1)}
    case("SVMRegressor", [In(x)], {**line, "n_supports": 0}, tag="linear")
    case("SVMRegressor", [In(x)], {**line, "n_supports": 0, "one_class": 1}, tag="one_class")
