"""Models of scikit-learn besides trees, as skl2onnx writes them.

    pipelines.py DIR [SEED]        as trees.py
"""
import sys
import warnings

import numpy as np
from skl2onnx import to_onnx
from sklearn import (cluster, decomposition, discriminant_analysis, ensemble, feature_selection, gaussian_process, impute,
                     linear_model, multiclass, naive_bayes, neighbors, neural_network, preprocessing, svm)
from sklearn.pipeline import make_pipeline, make_union

from trees import data, save, seed

warnings.simplefilter("ignore")
F = np.float32


def write(name, model, x, y=None, zipmap=None):
    try:
        model.fit(x, y) if y is not None else model.fit(x)
        options = {id(model): {"zipmap": zipmap}} if zipmap is not None else None
        save(name, to_onnx(model, x[:1], options=options, target_opset={"": 17, "ai.onnx.ml": 3}), x[:32])
    except Exception as e:  # noqa: BLE001 - what the exporter cannot do
        print("%s: %s" % (name, str(e).split("\n")[0][:120]))


for classes in (2, 3):
    x, y = data(classes, rows=200, features=11)
    names = np.array(["ant", "bee", "cat"])[y]
    for name, model in (
            ("logistic", linear_model.LogisticRegression()), ("ridge", linear_model.RidgeClassifier()),
            ("sgd", linear_model.SGDClassifier(random_state=seed)), ("linear_svc", svm.LinearSVC()),
            ("svc", svm.SVC()), ("svc_poly", svm.SVC(kernel="poly", degree=2)),
            ("svc_prob", svm.SVC(probability=True, random_state=seed)), ("nu_svc", svm.NuSVC()),
            ("gaussian_nb", naive_bayes.GaussianNB()), ("bernoulli_nb", naive_bayes.BernoulliNB()),
            ("knn", neighbors.KNeighborsClassifier()), ("lda", discriminant_analysis.LinearDiscriminantAnalysis()),
            ("qda", discriminant_analysis.QuadraticDiscriminantAnalysis()),
            ("mlp", neural_network.MLPClassifier((16, ), random_state=seed)),
            ("ada", ensemble.AdaBoostClassifier(random_state=seed)),
            ("bagging", ensemble.BaggingClassifier(random_state=seed)),
            ("ovr", multiclass.OneVsRestClassifier(linear_model.LogisticRegression())),
            ("voting", ensemble.VotingClassifier([("a", linear_model.LogisticRegression()),
                                                  ("b", naive_bayes.GaussianNB())], voting="soft")),
            ("scaled", make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()))):
        write("skl_%s%d" % (name, classes), model, x, y)
    write("skl_names%d" % classes, linear_model.LogisticRegression(), x, names, zipmap=False)
    write("skl_nozip%d" % classes, linear_model.LogisticRegression(), x, y, zipmap=False)
x, y = data(0, rows=200, features=11)
holes = np.where(np.random.default_rng(seed).random(x.shape) < 0.1, np.nan, x).astype(F)
for name, model in (
        ("linear", linear_model.LinearRegression()), ("lasso", linear_model.Lasso(0.01)),
        ("huber", linear_model.HuberRegressor()), ("svr", svm.SVR()), ("svr_sigmoid", svm.SVR(kernel="sigmoid")),
        ("nu_svr", svm.NuSVR()), ("linear_svr", svm.LinearSVR()), ("knr", neighbors.KNeighborsRegressor()),
        ("mlpr", neural_network.MLPRegressor(hidden_layer_sizes=(16, ), random_state=seed)),
        ("gpr", gaussian_process.GaussianProcessRegressor()),
        ("adar", ensemble.AdaBoostRegressor(n_estimators=5, random_state=seed)),
        ("select", make_pipeline(feature_selection.SelectKBest(k=4), linear_model.LinearRegression())),
        ("union", make_pipeline(make_union(preprocessing.StandardScaler(), decomposition.PCA(3)),
                                linear_model.LinearRegression()))):
    write("skl_" + name, model, x, y)
write("skl_imputed", make_pipeline(impute.SimpleImputer(), linear_model.LinearRegression()), holes, y)
for name, model in (
        ("standard", preprocessing.StandardScaler()), ("minmax", preprocessing.MinMaxScaler()),
        ("robust", preprocessing.RobustScaler()), ("maxabs", preprocessing.MaxAbsScaler()),
        ("l1", preprocessing.Normalizer("l1")), ("l2", preprocessing.Normalizer("l2")),
        ("max", preprocessing.Normalizer("max")), ("binarizer", preprocessing.Binarizer(threshold=0.2)),
        ("polynomial", preprocessing.PolynomialFeatures(2)), ("bins", preprocessing.KBinsDiscretizer(4)),
        ("power", preprocessing.PowerTransformer()), ("pca", decomposition.PCA(3)),
        ("svd", decomposition.TruncatedSVD(3)), ("kmeans", cluster.KMeans(4, random_state=seed)),
        ("isolation", ensemble.IsolationForest(n_estimators=10, random_state=seed)),
        ("one_class", svm.OneClassSVM())):
    write("skl_" + name, model, x)
