"""Records models that skl2onnx exports of scikit-learn, and what ONNX Runtime gives for them.

    python tests/converter/onnx/make_sklearn_models.py

needs scikit-learn 1.9, skl2onnx 1.20, pandas and onnxruntime 1.32; writes sklearn_models.npz.
"""

from pathlib import Path

import numpy as np
import onnxruntime
import pandas
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR

X, Y = load_iris(return_X_y=True)
X = X.astype(np.float32)
X_REAL, Y_REAL = make_regression(60, 4, random_state=0)
X_REAL = X_REAL.astype(np.float32)
COLOURS = np.array(["red", "green", "blue"])[np.random.default_rng(0).integers(0, 3, len(X))]
TABLE = pandas.DataFrame({**dict(zip("abcd", X.T, strict=True)), "colour": COLOURS})

CLASSIFIERS = {
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
    "logistic": LogisticRegression(max_iter=500),
    "scaler_mlp": make_pipeline(
        StandardScaler(), MLPClassifier((6,), max_iter=1000, random_state=0)
    ),
    "svm": make_pipeline(PCA(2), SVC(kernel="rbf")),
    "svm_probabilities": SVC(C=0.1, probability=True, random_state=0),
    "imputer_polynomial": make_pipeline(
        SimpleImputer(), PolynomialFeatures(2), LogisticRegression(max_iter=3000)
    ),
}
REGRESSORS = {
    "boosting": GradientBoostingRegressor(n_estimators=4, random_state=0),
    "svr": SVR(),
}


def with_columns(encoder, classifier):
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), list("abcd")), ("colour", encoder, ["colour"])]
    )
    return make_pipeline(columns, classifier)


TABLES = {
    "one_hot_columns": with_columns(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=500)
    ),
    "ordinal_columns": with_columns(
        OrdinalEncoder(), RandomForestClassifier(3, max_depth=3, random_state=0)
    ),
}


def record(arrays, name, model, types, feeds):
    exported = convert_sklearn(
        model, initial_types=types, target_opset={"": 18, "ai.onnx.ml": 3},
        options={"zipmap": False} if hasattr(model, "predict_proba") else None,
    )  # fmt: skip
    content = exported.SerializeToString()
    session = onnxruntime.InferenceSession(content)
    arrays[f"{name} model"] = np.frombuffer(content, np.uint8)
    for key, x in feeds.items():
        arrays[f"{name} in {key}"] = x.astype("S") if x.dtype == object else x
    for output, result in zip(session.get_outputs(), session.run(None, feeds), strict=True):
        is_map = isinstance(result, list)  # a ZipMap's, of which the converter gives the scores
        x = np.float32([list(row.values()) for row in result]) if is_map else result
        arrays[f"{name} out {output.name}"] = x.astype("S") if x.dtype == object else x


def main():
    recorded = {}
    numbers = [("x", FloatTensorType([None, 4]))]
    for name, model in CLASSIFIERS.items():
        record(recorded, name, model.fit(X, Y), numbers, {"x": X[::11]})
    neighbours = KNeighborsClassifier(3).fit(X[::6], Y[::6])
    record(recorded, "neighbours", neighbours, numbers, {"x": X[::11]})
    flowers = np.array(["setosa", "versicolor", "virginica"])[Y]
    perceptron = MLPClassifier((4,), max_iter=2000, random_state=0).fit(X, flowers)
    record(recorded, "mlp_texts", perceptron, numbers, {"x": X[::11]})
    for name, model in REGRESSORS.items():
        record(recorded, name, model.fit(X_REAL, Y_REAL), numbers, {"x": X_REAL[::5]})
    columns = [(c, FloatTensorType([None, 1])) for c in "abcd"]
    columns.append(("colour", StringTensorType([None, 1])))
    feeds = {c: X[::11, i : i + 1] for i, c in enumerate("abcd")}
    feeds["colour"] = COLOURS[::11, None].astype(object)
    for name, model in TABLES.items():
        record(recorded, name, model.fit(TABLE, Y), columns, feeds)
    np.savez_compressed(Path(__file__).with_name("sklearn_models.npz"), **recorded)


if __name__ == "__main__":
    main()
