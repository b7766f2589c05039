"""Models as people make them today, with random weights: MODELS[name] = function(path without extension) -> Case.

Nothing is downloaded: architectures of torchvision, timm and transformers (small configurations), nets of our own,
Keras, scikit-learn, XGBoost, LightGBM, and what ONNX Runtime's quantisers make of them.
"""
import warnings

import numpy as np

warnings.filterwarnings("ignore")
MODELS = {}


class Case:
    """A model file; inputs by name; what the reference makes of them, in the order of the outputs."""

    def __init__(self, path, inputs, outputs, reference):
        self.path, self.inputs, self.outputs, self.reference = path, inputs, outputs, reference


def add(name):
    def keep(f):
        MODELS[name] = f
        return f
    return keep


def session(path):
    import onnxruntime as ort
    o = ort.SessionOptions()
    o.intra_op_num_threads = o.inter_op_num_threads = 1
    o.log_severity_level = 3
    return ort.InferenceSession(path, o, providers=["CPUExecutionProvider"])


def onnx_case(path, arrays):
    s = session(path)
    inputs = dict(zip([i.name for i in s.get_inputs()], arrays))
    return Case(path, inputs, s.run(None, inputs), lambda: s.run(None, inputs))


def export(path, net, *args, dynamo=False, **more):
    """By the exporter over TorchScript, or the one over torch.export; the other one where it fails."""
    import torch
    net = net.eval()
    for d in (dynamo, not dynamo):
        try:
            with torch.no_grad():
                torch.onnx.export(net, args, path + ".onnx", dynamo=d, verbose=False, **more)
            break
        except Exception:  # pylint: disable=broad-except
            if d != dynamo:
                raise
    return onnx_case(path + ".onnx", [a.numpy() for a in args])


# ---------------------------------------------------------------------- torchvision, timm

def vision(name, size=96, family=None, **more):
    @add("torchvision " + name)
    def make(path):
        import torch
        import torchvision
        torch.manual_seed(1)
        models = getattr(torchvision.models, family) if family else torchvision.models
        return export(path, Plain(getattr(models, name)(weights=None, **more)), torch.randn(1, 3, size, size))


def Plain(net):
    """The first tensor of what the net gives, which may be a dictionary or an object with fields."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, *x):
            y = self.net(*x)
            y = y.to_tuple() if hasattr(y, "to_tuple") else y
            y = list(y.values()) if isinstance(y, dict) else y
            return y[0] if isinstance(y, (list, tuple)) else y
    return Module()


for _name in ("squeezenet1_1 mobilenet_v2 mobilenet_v3_small shufflenet_v2_x0_5 mnasnet0_5 efficientnet_b0 regnet_y_400mf "
              "regnet_x_400mf resnet18 resnet50 densenet121 convnext_tiny").split():
    vision(_name)
vision("googlenet", init_weights=False, aux_logits=False)
vision("inception_v3", 128, init_weights=False, aux_logits=False)
vision("swin_t", 64)
vision("swin_v2_t", 64)
vision("maxvit_t", 224)
vision("lraspp_mobilenet_v3_large", 96, "segmentation", weights_backbone=None)
vision("deeplabv3_mobilenet_v3_large", 96, "segmentation", weights_backbone=None)


@add("torchvision r3d_18")
def r3d(path):
    import torch
    import torchvision
    torch.manual_seed(1)
    return export(path, torchvision.models.video.r3d_18(weights=None), torch.randn(1, 3, 4, 48, 48))


def timm_net(name, size, dynamo=False):
    @add("timm " + name)
    def make(path):
        import timm
        import torch
        torch.manual_seed(1)
        return export(path, timm.create_model(name, pretrained=False, exportable=True), torch.randn(1, 3, size, size),
                      dynamo=dynamo)


for _name in ("mobilenetv4_conv_small ghostnet_100 hardcorenas_a repvgg_a0 tinynet_e edgenext_xx_small poolformer_s12 "
              "mobileone_s0 rexnet_100 dla34 skresnet18 ese_vovnet19b_dw hrnet_w18_small pvt_v2_b0 fastvit_t8 "
              "efficientvit_b0 starnet_s1 res2net50_14w_8s nf_regnet_b0 eca_nfnet_l0").split():
    timm_net(_name, 96)
for _name in ("levit_128s deit_tiny_patch16_224 xcit_nano_12_p16_224 resmlp_12_224 gmlp_s16_224 mixer_s32_224 "
              "mobilevit_xxs convit_tiny efficientformer_l1 tiny_vit_5m_224 sequencer2d_s coat_lite_tiny").split():
    timm_net(_name, 224)
timm_net("crossvit_tiny_240", 240)
timm_net("halonet26t", 256)
timm_net("mobilevitv2_050", 96, dynamo=True)


# ---------------------------------------------------------------------- transformers

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 99,
         "d_model": 64, "n_layer": 2, "n_head": 4, "num_layers": 2, "d_ff": 128, "encoder_layers": 2, "decoder_layers": 2,
         "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
         "num_key_value_heads": 2, "dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 4, "n_embd": 64, "num_heads": 4,
         "ffn_dim": 128, "word_embed_proj_dim": 64, "embedding_size": 64, "max_position_embeddings": 64, "n_positions": 64,
         "num_hidden_groups": 1, "image_size": 32, "patch_size": 8, "d_kv": 16, "rotary_dim": 8, "head_dim": 16,
         "attention_types": [[["global"], 2]], "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "use_cache": False,
         "num_experts": 4, "num_local_experts": 4, "state_size": 8}


def transformer(kind, model="Model", feed="ids", dynamo=True, **more):
    @add("transformers " + kind + model)
    def make(path):
        import torch
        import transformers as tr
        torch.manual_seed(1)
        make_config = getattr(tr, kind + "Config")
        known = make_config().to_dict()
        config = make_config(**{**{k: v for k, v in SMALL.items() if k in known}, **more})
        config._attn_implementation = "eager"
        net = getattr(tr, kind + model)(config)
        ids = torch.randint(3, 99, (1, 12))
        x = {"ids": [ids], "both": [ids, ids[:, :7]], "pixels": [torch.randn(1, 3, 32, 32)],
             "wave": [torch.randn(1, 4000)], "mel": [torch.randn(1, 80, 200), ids]}[feed]
        names = {"both": ["input_ids", "decoder_input_ids"], "mel": ["input_features", "decoder_input_ids"]}.get(feed)

        class ByName(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, a, b):
                return self.net(**dict(zip(names, (a, b))), use_cache=False)
        return export(path, Plain(ByName() if names else net), *x, dynamo=dynamo)


for _kind in ("Bert DistilBert Roberta Albert Electra MPNet SqueezeBert ConvBert Deberta DebertaV2 MobileBert "
              "GPT2 GPTNeo OPT Bloom Llama Mistral Qwen2 Qwen3 Gemma Phi GPTNeoX Falcon StableLm Olmo Mamba FNet "
              "XLNet Mixtral CodeGen").split():
    transformer(_kind, **({"rotary_dim": 8} if _kind == "CodeGen" else {}))
transformer("T5", "EncoderModel")
transformer("T5", feed="both")
transformer("Bart", feed="both")
transformer("ViT", feed="pixels")
transformer("Dinov2", feed="pixels")
transformer("DeiT", feed="pixels")
transformer("Segformer", feed="pixels")
transformer("Wav2Vec2", feed="wave", num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
transformer("Hubert", feed="wave", num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
transformer("Whisper", feed="mel", max_source_positions=100)


# ---------------------------------------------------------------------- nets of our own

def own(name, *shape, **more):
    def keep(build):
        @add("own " + name)
        def make(path):
            import torch
            torch.manual_seed(1)
            return export(path, Plain(build(torch.nn)), torch.randn(*shape), **more)
        return build
    return keep


own("lstm", 1, 20, 8)(lambda nn: nn.LSTM(8, 32, 2, batch_first=True, bidirectional=True))
own("gru", 1, 20, 8)(lambda nn: nn.GRU(8, 32, 2, batch_first=True))
own("rnn", 1, 20, 8, dynamo=True)(lambda nn: nn.RNN(8, 32, batch_first=True))
own("tcn", 1, 8, 64)(lambda nn: nn.Sequential(nn.Conv1d(8, 16, 3, dilation=2), nn.ReLU(), nn.BatchNorm1d(16),
                                             nn.Conv1d(16, 16, 3, dilation=4), nn.GELU(), nn.AdaptiveAvgPool1d(1)))
own("decoder", 1, 16, 8, 8)(lambda nn: nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.GroupNorm(2, 8), nn.SiLU(),
                                                     nn.Upsample(scale_factor=2, mode="bilinear"), nn.PixelShuffle(2)))
own("encoder layer", 1, 10, 32)(lambda nn: nn.TransformerEncoderLayer(32, 4, 64, batch_first=True))
own("conv3d", 1, 2, 8, 16, 16, dynamo=True)(lambda nn: nn.Sequential(nn.Conv3d(2, 4, 3), nn.Mish(), nn.MaxPool3d(2)))


# ---------------------------------------------------------------------- ONNX Runtime's quantisers

def quantised(name, of, how):
    @add("quantised %s %s" % (of, how))
    def make(path):
        from onnxruntime import quantization as q
        from onnxruntime.quantization.shape_inference import quant_pre_process
        case = MODELS[of](path + "_f32")
        to, ready = path + ".onnx", path + "_ready.onnx"
        quant_pre_process(case.path, ready, skip_symbolic_shape=True)
        if how == "dynamic":
            q.quantize_dynamic(ready, to)
        else:
            class Reader(q.CalibrationDataReader):
                left = [case.inputs]

                def get_next(self):
                    return self.left.pop() if self.left else None
            q.quantize_static(ready, to, Reader(), per_channel=how != "qoperator",
                              quant_format=q.QuantFormat.QOperator if how == "qoperator" else q.QuantFormat.QDQ)
        return onnx_case(to, list(case.inputs.values()))


for _of in ("torchvision resnet18", "torchvision mobilenet_v2", "torchvision squeezenet1_1", "timm repvgg_a0"):
    quantised(_of, _of, "qdq")
    quantised(_of, _of, "qoperator")
for _of in ("transformers BertModel", "transformers GPT2Model", "own lstm", "timm deit_tiny_patch16_224"):
    quantised(_of, _of, "dynamic")


# ---------------------------------------------------------------------- Keras, by TensorFlow's converter

def keras_net(name, size=96, how="f32"):
    @add("keras %s %s" % (name, how))
    def make(path):
        import tensorflow as tf
        tf.keras.utils.set_random_seed(1)
        return tflite(path, getattr(tf.keras.applications, name)(weights=None, input_shape=(size, size, 3)),
                      (1, size, size, 3), how)


def tflite(path, net, shape, how):
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as freeze
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape).astype(np.float32)
    f = tf.function(lambda v: net(v, training=False), input_signature=[tf.TensorSpec(shape, tf.float32)])
    c = tf.lite.TFLiteConverter.from_concrete_functions([freeze(f.get_concrete_function())])
    if how != "f32":
        c.optimizations = [tf.lite.Optimize.DEFAULT]
    if how == "i8":
        c.representative_dataset = lambda: [[x]]
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        c.inference_input_type = c.inference_output_type = tf.int8
    path += ".tflite"
    with open(path, "wb") as out:
        out.write(c.convert())
    return tflite_case(path, x)


TRY = """
import sys
from ai_edge_litert import interpreter as lite
i = lite.Interpreter(sys.argv[1], num_threads=1, experimental_op_resolver_type=lite.OpResolverType.BUILTIN_REF)
i.allocate_tensors()
i.invoke()
"""


def tflite_case(path, x):
    """LiteRT's reference kernels end the process (abort) for some models: then its others, without delegates."""
    import subprocess
    import sys
    from ai_edge_litert import interpreter as lite
    kinds = lite.OpResolverType
    fine = not subprocess.run([sys.executable, "-c", TRY, path], capture_output=True, check=False).returncode
    i = lite.Interpreter(path, num_threads=1, experimental_op_resolver_type=kinds.BUILTIN_REF if fine else
                         kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    i.allocate_tensors()
    at, out = i.get_input_details()[0], [o["index"] for o in i.get_output_details()]
    scale, zero = at["quantization"]
    if at["dtype"] != np.float32:
        x = np.clip(np.round(x / scale) + zero, -128, 127).astype(at["dtype"])
    quick = lite.Interpreter(path, num_threads=1)
    quick.allocate_tensors()

    def run(by):
        by.set_tensor(at["index"], x)
        by.invoke()
        return [by.get_tensor(k) for k in out]
    return Case(path, {"0": x}, run(i), lambda: run(quick))


for _name in ("MobileNetV3Small", "EfficientNetV2B0", "NASNetMobile", "DenseNet121"):
    for _how in ("f32", "i8"):
        keras_net(_name, 224 if _name == "NASNetMobile" else 96, _how)
keras_net("MobileNetV2", 96, "dynamic")
keras_net("ConvNeXtTiny", 64)


def keras_own(name, shape, how, build):
    @add("keras own %s %s" % (name, how))
    def make(path):
        import tensorflow as tf
        tf.keras.utils.set_random_seed(1)
        return tflite(path, build(tf.keras.layers, tf.keras.Sequential), shape, how)


for _how in ("f32", "i8"):
    keras_own("conv1d", (1, 64, 4), _how, lambda k, s: s([k.Conv1D(8, 5, activation="relu"), k.MaxPool1D(), k.Conv1D(8, 3),
                                                        k.GlobalAveragePooling1D(), k.Dense(3, activation="softmax")]))
keras_own("lstm", (1, 16, 4), "f32", lambda k, s: s([k.LSTM(12, unroll=True), k.Dense(3)]))
keras_own("gru", (1, 16, 4), "f32", lambda k, s: s([k.GRU(12, unroll=True), k.Dense(3)]))
keras_own("unet", (1, 32, 32, 3), "i8",
          lambda k, s: s([k.Conv2D(8, 3, 2, "same"), k.PReLU(), k.Conv2DTranspose(4, 3, 2, "same"), k.UpSampling2D()]))


# ---------------------------------------------------------------------- scikit-learn, XGBoost, LightGBM

def table(name, build, regression=False):
    @add("table " + name)
    def make(path):
        from skl2onnx import to_onnx
        rng = np.random.default_rng(1)
        x = rng.standard_normal((300, 8)).astype(np.float32)
        y = x[:, 0] * 2 + x[:, 1] if regression else (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int) + (x[:, 3] > 1)
        net = build()
        kind = type(net).__module__.split(".")[0]
        net.fit(x, y)
        if kind == "sklearn":
            more = {} if regression or not hasattr(net, "predict_proba") else {"options": {id(net): {"zipmap": False}}}
            model = to_onnx(net, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, **more)
        else:
            import onnxmltools
            from onnxmltools.convert.common.data_types import FloatTensorType
            model = getattr(onnxmltools, "convert_" + kind)(net, initial_types=[("x", FloatTensorType([None, 8]))])
        for i in model.graph.input:  # one row
            i.type.tensor_type.shape.dim[0].dim_value = 1
        with open(path + ".onnx", "wb") as out:
            out.write(model.SerializeToString())
        case = onnx_case(path + ".onnx", [x[:1]])
        case.outputs = [numbers(o) for o in case.outputs]
        return case


def numbers(o):
    """The tensor of probabilities of a list of dictionaries."""
    return np.array([list(d.values()) for d in o], np.float32) if isinstance(o, list) else o


def tables():
    try:
        from sklearn import (ensemble, linear_model, naive_bayes, neighbors, neural_network, pipeline, preprocessing, svm,
                             tree)
    except ImportError:
        return
    table("RandomForestClassifier", lambda: ensemble.RandomForestClassifier(20, max_depth=8, random_state=1))
    table("GradientBoostingRegressor", lambda: ensemble.GradientBoostingRegressor(random_state=1), True)
    table("HistGradientBoostingClassifier", lambda: ensemble.HistGradientBoostingClassifier(max_iter=20))
    table("ExtraTreesRegressor", lambda: ensemble.ExtraTreesRegressor(20, random_state=1), True)
    table("AdaBoostClassifier", lambda: ensemble.AdaBoostClassifier(n_estimators=10, random_state=1))
    table("IsolationForest", lambda: ensemble.IsolationForest(n_estimators=10, random_state=1))
    table("DecisionTreeClassifier", lambda: tree.DecisionTreeClassifier(max_depth=6))
    table("LogisticRegression", linear_model.LogisticRegression)
    table("ElasticNet", linear_model.ElasticNet, True)
    table("SVC", lambda: svm.SVC(probability=True, random_state=1))
    table("SVR", svm.SVR, True)
    table("MLPClassifier", lambda: neural_network.MLPClassifier(max_iter=20, random_state=1))
    table("KNeighborsClassifier", neighbors.KNeighborsClassifier)
    table("GaussianNB", naive_bayes.GaussianNB)
    table("pipeline", lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.PolynomialFeatures(),
                                                     linear_model.LogisticRegression()))
    table("quantile pipeline", lambda: pipeline.make_pipeline(preprocessing.KBinsDiscretizer(4, encode="onehot-dense"),
                                                              linear_model.LogisticRegression()))


def boosted():
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return
    table("XGBClassifier", lambda: xgboost.XGBClassifier(n_estimators=20))
    table("XGBRegressor", lambda: xgboost.XGBRegressor(n_estimators=20), True)
    table("LGBMClassifier", lambda: lightgbm.LGBMClassifier(n_estimators=20, verbose=-1))


tables()
boosted()
