#!/usr/bin/env python3
"""missing.py - what has no example: rows of ir/ops/ops.def, codes of base/errors.def; and files that no example uses.

    missing.py SOURCE_DIR

An operator of com.microsoft or ai.onnx.ml (import/onnx/nodes.def) has to be in a program of onnx/ with a .graph, one of
TensorFlow (import/tf/nodedefs.def) in a graph of tf/ with one, one of TFLite (import/tflite/operators.def and the
column of ops.def) in a program of tflite/, and all in the random models that are compared with the foreign runtime. What golden has is a seed for fuzzing too (scripts/fuzz.sh).
An operator's example is ops/OPERATOR.ag or ops/OPERATOR-RULE.ag. A code's is any .err that shows it; one that is named
after a code has to. errors/exempt.txt names the codes that no example can show. Exit status 1 when something is
missing.
"""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
GOLDEN = ROOT / "tests" / "golden"
wrong = []

# Rows of TensorFlow that have no random model or example of their own, and why.
BY_OTHERS = {}
for why, names in {
    "TensorFlow has it no more": "BatchMatrixBandPart TopK BatchNormWithGlobalNormalization",
    "its numbers are arenac's own (cli_random)": """
        RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt Multinomial RandomShuffle
        StatelessRandomUniform StatelessRandomUniformV2 StatelessRandomNormal StatelessRandomNormalV2
        StatelessTruncatedNormal StatelessTruncatedNormalV2 StatelessRandomUniformInt StatelessRandomUniformIntV2
        StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatelessRandomGetKeyCounter
        StatelessRandomGetKeyCounterAlg StatelessRandomGetAlg""",
    "it orders others": "NoOp",
    "tf.cond, tf.while_loop and functions of flow_tf.py make it, and the -that-data-decides examples": """
        _SwitchN PartitionedCall StatefulPartitionedCall If StatelessIf Case StatelessCase StatelessWhile""",
    "a graph of TensorFlow 1, variable-that-is-a-reference": "Assign AssignAdd AssignSub",
    "it needs a checkpoint: models/saved_model.py, models/today/keras_saved.py": """
        VarHandleOp Variable VariableV2 ReadVariableOp ResourceGather ResourceGatherNd VariableShape
        VarIsInitializedOp AssignVariableOp AssignAddVariableOp AssignSubVariableOp""",
}.items():
    BY_OTHERS.update(dict.fromkeys(names.split(), why))

# ... and of TFLite; examples have them, but no random model.
RANDOM = dict.fromkeys("RANDOM_UNIFORM RANDOM_STANDARD_NORMAL MULTINOMIAL".split(), "their numbers are arenac's own")


def read(f):
    return f.read_text("utf-8", "replace")


def rows(path, pattern):
    return re.findall(pattern, read(ROOT / path), re.M) or sys.exit(path + " has no rows: this check is broken")


for name in rows("ir/ops/ops.def", r'^OP\( *\w+, *"(\w+)"'):
    examples = [*GOLDEN.glob("ops/%s.ag" % name), *GOLDEN.glob("ops/%s-*.ag" % name)]
    if not any(" = %s(" % name in read(f) for f in examples):
        wrong.append("operator %s: no ops/%s-RULE.ag uses it" % (name, name))


def sources(area, *suffixes):
    """What makes the inputs of an area that have a listing."""
    listings = {f.with_suffix("") for k in ("graph", "h", "out") for f in (GOLDEN / area).glob("*." + k)}
    return "".join(read(f) for f in sorted((GOLDEN / area).iterdir())
                   if f.suffix in suffixes and f.with_suffix("") in listings)


def random_models(*patterns):
    return "".join(read(f) for p in patterns for f in sorted((ROOT / "tests").glob(p))) or sys.exit("no " + patterns[0])


TFLITE = sources("tflite", ".py"), random_models("cli/formats/*litert*.py", "foreign/tflite_graphs.py")
# table, its rows, what makes examples, random models, and rows that have neither of their own
DOMAINS = [
    ("import/onnx/nodes.def", r'^ONXB?\( *(\w+), *"(?:com.microsoft|ai.onnx.ml)"', sources("onnx", ".py"),
     random_models("foreign/onnx_*.py", "cli/formats/*ort*.py", "cli/formats/trees.py"), {}),
    ("import/tf/nodedefs.def", r"^TFOB?\( *(\w+),", sources("tf", ".pbtxt", ".py"),
     random_models("cli/formats/*tf.py", "unit/import/test_tf.c", "../models/make_tf.py", "../models/saved_model.py"),
     BY_OTHERS),
    # of TFLite those that its reader makes of several, or of custom ones, and built-in ones that are one of ours
    ("import/tflite/operators.def", r"^(?:COMPOSED\( *\d+, *|CUSTOM_COMPOSED\()(\w+),", *TFLITE, RANDOM),
    ("ir/ops/ops.def", r'^OP\( *\w+, *"\w+", *"([A-Z0-9_]+)"', *TFLITE, {}),
]
for table, pattern, example, foreign, others in DOMAINS:
    for name in rows(table, pattern):
        word = re.compile(r"\b%s\b" % name)
        for what, text in (("no example with a .graph uses it", example), ("no random model has it", foreign)):
            if not word.search(text) and name not in others:
                wrong.append("%s: %s: %s" % (table, name, what))

shown = {code for f in GOLDEN.glob("*/*.err") for code in re.findall(r"\[([EW]\d{4})\]", read(f))}
for f in GOLDEN.glob("*/[EW][0-9][0-9][0-9][0-9]-*.err"):
    if "[%s]" % f.name[:5] not in read(f):
        wrong.append("%s/%s does not show the code that it is named after" % (f.parent.name, f.name))
exempt = set()
for line in read(GOLDEN / "errors" / "exempt.txt").splitlines():
    if line and not line.startswith("#"):
        code, test, why = line.split(None, 2)
        exempt.add(code)
        if test != "-" and (not (ROOT / test).is_file() or code not in read(ROOT / test)):
            wrong.append("exempt.txt: %s does not show %s" % (test, code))
codes = rows("base/errors.def", r"^ERR\(([EW]\d{4}),")
wrong += ["%s: no .err shows it" % c for c in codes if c not in shown | exempt]
wrong += ["exempt.txt: %s has an example, or is no code" % c for c in sorted(exempt) if c in shown or c not in codes]

for area in (d for d in sorted(GOLDEN.iterdir()) if d.is_dir() and d.name[0] not in "._"):
    files = sorted(area.iterdir())
    lines = "\n".join(line for f in files for line in read(f).splitlines() if re.match(r"\W*arenac.*: ", line))
    stems = [f.name.split(".")[0] for f in files]
    for f in files:
        if stems.count(f.name.split(".")[0]) == 1 and f.name not in lines and f.name != "exempt.txt":
            wrong.append("%s/%s: no expectation and no command is about it" % (area.name, f.name))

print("\n".join(wrong) or "every operator and every code has an example")
sys.exit(len(wrong) > 0)
