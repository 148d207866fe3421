"""Joining a reranker behind classifiers that scikit-learn and PyTorch export."""

from functools import cache

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx, which is not installed (make test EXTRAS=all)")
pytest.importorskip("onnxruntime", reason="needs onnxruntime, which is not installed")

from onnx import TensorProto, helper  # noqa: E402

from repair import InputError, Reranker  # noqa: E402
from repair.export import to_onnx, verify_onnx  # noqa: E402
from repair.export.names import RANKED  # noqa: E402
from runtimes import accepted, arguments, model_of, settings_of  # noqa: E402
from sessions import hashable, session_of  # noqa: E402

K, WIDTH = 6, 4


def run(path, given):
    session = session_of(onnx.load(path))
    return dict(zip((entry.name for entry in session.get_outputs()), session.run(None, given), strict=True))


def features(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.choice(K, size=n, p=np.array([40, 20, 15, 10, 10, 5]) / 100)
    centres = np.random.default_rng(9).normal(size=(K, WIDTH))
    return (centres[labels] + 0.8 * rng.normal(size=(n, WIDTH))).astype(np.float32), labels


def classifier(kind="float", *, shape=("rows", K), operator=None, opset=18, ir_version=8, width=K):
    """Return a linear classifier, with an operator behind it if asked."""
    dtype = {"float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "half": TensorProto.FLOAT16}[kind]
    weights = (
        np.random.default_rng(1).normal(size=(WIDTH, width)).round(2).astype(helper.tensor_dtype_to_np_dtype(dtype))
    )
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product" if operator else "logits"])]
    if operator:
        nodes.append(
            helper.make_node(operator, ["product"], ["logits"], **({"axis": 1} if operator == "Softmax" else {}))
        )
    graph = helper.make_graph(
        nodes, "classifier", [helper.make_tensor_value_info("x", dtype, ["rows", WIDTH])],
        [helper.make_tensor_value_info("logits", dtype, shape)], [onnx.numpy_helper.from_array(weights, "w")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


@pytest.fixture(scope="module")
def model():
    x, labels = features(300, 0)
    weights = np.random.default_rng(1).normal(size=(WIDTH, K)).round(2)
    return Reranker("pairwise", n_candidates=4).fit(x @ weights, labels, class_counts=[400, 200, 150, 100, 100, 50])


def check(model, path, x, scores, given=None, **settings):
    """Run a joined file, and compare it with the library on the scores that the classifier returned."""
    results = run(path, given or {"x": x})
    expected = model.rerank(results[scores] if isinstance(scores, str) else scores, **settings)
    np.testing.assert_array_equal(results[RANKED[0]], expected.ids)
    np.testing.assert_allclose(results[RANKED[1]], expected.scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(results[RANKED[2]], expected.probabilities, rtol=0, atol=1e-9)
    verified = verify_onnx(path)
    assert verified.passed
    assert verified.appended
    return results


@pytest.mark.parametrize("kind", ["float", "double", "half"])
@pytest.mark.parametrize(("opset", "ir_version"), [(13, 7), (18, 8), (21, 10)])
def test_a_graph_of_any_version_and_type(model, tmp_path, kind, opset, ir_version):
    base = classifier(kind, opset=opset, ir_version=ir_version)
    made = to_onnx(model, tmp_path / "both.onnx", append_to=base)
    assert ({entry.domain: entry.version for entry in made.opset_import}, made.ir_version) == ({"": opset}, ir_version)
    x = features(50, 1)[0].astype({"float": np.float32, "double": np.float64, "half": np.float16}[kind])
    if kind == "half":  # onnxruntime computes in float32 and rounds only the classifier's own output
        results = run(tmp_path / "both.onnx", {"x": x})
        expected = model.rerank(results["logits"])
        np.testing.assert_allclose(results[RANKED[1]], expected.scores, atol=5e-3)
        assert verify_onnx(tmp_path / "both.onnx").passed
    else:
        results = check(model, tmp_path / "both.onnx", x, "logits")
    assert list(results) == ["logits", *RANKED]


def test_an_old_graph_is_converted(model, tmp_path):
    made = to_onnx(model, tmp_path / "both.onnx", append_to=classifier(opset=9, ir_version=4))
    assert made.opset_import[0].version == 13
    check(model, tmp_path / "both.onnx", features(50, 1)[0], "logits")


def test_a_file_is_read_and_left_unchanged(model, tmp_path):
    path = tmp_path / "classifier.onnx"
    onnx.save(classifier(), path)
    before = path.read_bytes()
    to_onnx(model, tmp_path / "both.onnx", append_to=path)
    assert path.read_bytes() == before
    check(model, tmp_path / "both.onnx", features(50, 1)[0], "logits")


@cache
def behind_another_graph(path, dtype, settings):
    """Return a session of a graph that hands on its inputs, scores and embeddings, and of the reranker behind it."""
    reranker, kind = model_of(path), helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    entries = [("x", "logits", kind, reranker.state.correction.table.n_classes)]
    if reranker.state.correction.embedding_width is not None:
        entries.append(("y", "vectors", TensorProto.DOUBLE, reranker.state.correction.embedding_width))
    base = helper.make_model(
        helper.make_graph(
            [helper.make_node("Identity", [source], [made]) for source, made, *_ in entries],
            "classifier",
            [helper.make_tensor_value_info(source, kind, ["rows", width]) for source, _, kind, width in entries],
            [helper.make_tensor_value_info(made, kind, ["rows", width]) for _, made, kind, width in entries],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )
    options = {"embeddings_output": "vectors"} if len(entries) > 1 else {}
    return session_of(to_onnx(reranker, append_to=base, output="logits", **options, **dict(settings)))


@pytest.mark.parametrize("case", accepted("ONNX behind a classifier"), ids=str)
def test_the_shared_cases_behind_another_graph(case):
    session = behind_another_graph(case.model_path, case.dtype, hashable(settings_of(case)))
    given = {entry.name: array for entry, array in zip(session.get_inputs(), arguments(case), strict=True)}
    if "y" in given:
        given["y"] = given["y"].astype(np.float64)
    results = dict(zip((entry.name for entry in session.get_outputs()), session.run(None, given), strict=True))
    case.check(*(results[name] for name in RANKED), tolerance=case.tolerance)


def test_embeddings_may_be_another_input(tmp_path):
    x, labels = features(120, 0)
    scores = x @ np.random.default_rng(1).normal(size=(WIDTH, K)).round(2).astype(np.float32)
    model = Reranker("extended", n_candidates=4, terms=("head",)).fit(scores, labels, embeddings=x)
    path = tmp_path / "both.onnx"
    to_onnx(model, path, append_to=classifier())
    results = run(path, {"x": x, "embeddings": x[:, ::-1]})
    np.testing.assert_array_equal(results[RANKED[0]], model.rerank(results["logits"], embeddings=x[:, ::-1]).ids)


@pytest.fixture(scope="module")
def logistic():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression()).fit(*features(400, 0))


@pytest.mark.needs("sklearn", "skl2onnx")
class TestScikitLearn:
    def converted(self, fitted, **options):
        from skl2onnx import to_onnx as convert

        last = fitted[-1] if hasattr(fitted, "steps") else fitted
        return convert(fitted, features(1, 0)[0], options={id(last): options} if options else None)

    def test_logits(self, logistic, tmp_path):
        x, labels = features(300, 1)
        model = Reranker("pairwise", n_candidates=4).fit(logistic.decision_function(x), labels)
        base = self.converted(logistic, raw_scores=True, zipmap=False)
        to_onnx(model, tmp_path / "both.onnx", append_to=base)
        x, _ = features(100, 2)
        results = check(model, tmp_path / "both.onnx", x, "probabilities", {"X": x})
        np.testing.assert_allclose(results["probabilities"], logistic.decision_function(x), atol=1e-4)
        expected = model.rerank(logistic.decision_function(x))  # scikit-learn computes in float64
        np.testing.assert_allclose(results[RANKED[1]], expected.scores, atol=1e-4)

    def test_probabilities_are_refused_unless_their_logarithm_is_asked_for(self, logistic, tmp_path):
        x, labels = features(300, 1)
        model = Reranker("pairwise", n_candidates=4).fit(logistic.predict_log_proba(x), labels)
        base = self.converted(logistic, zipmap=False)
        with pytest.raises(InputError, match=r"'probabilities' seems to hold probabilities.*raw_scores"):
            to_onnx(model, append_to=base)
        to_onnx(model, tmp_path / "both.onnx", append_to=base, output_is="probabilities")
        x, _ = features(100, 2)
        shares = run(tmp_path / "both.onnx", {"X": x})["probabilities"]
        results = run(tmp_path / "both.onnx", {"X": x})
        expected = model.rerank(np.log(shares))
        np.testing.assert_array_equal(results[RANKED[0]], expected.ids)
        np.testing.assert_allclose(results[RANKED[1]], expected.scores, atol=1e-6)
        assert verify_onnx(tmp_path / "both.onnx").passed

    def test_zipmap_is_refused_with_the_remedy(self, logistic):
        x, labels = features(300, 1)
        model = Reranker("pairwise", n_candidates=4).fit(logistic.decision_function(x), labels)
        with pytest.raises(InputError, match=r"'output_probability' is a list of mappings.*zipmap.*False"):
            to_onnx(model, append_to=self.converted(logistic), output="output_probability")
        with pytest.raises(InputError, match=r"no output of the classifier can be the scores of 6 classes.*ZipMap"):
            to_onnx(model, append_to=self.converted(logistic))

    def test_a_forest(self, tmp_path):
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(20, random_state=0).fit(*features(400, 0))
        x, labels = features(300, 1)
        with np.errstate(divide="ignore"):
            model = Reranker("classwise", n_candidates=4).fit(forest.predict_log_proba(x), labels)
        base = self.converted(forest, zipmap=False)
        with pytest.raises(InputError, match="seems to hold probabilities"):
            to_onnx(model, append_to=base)
        to_onnx(model, tmp_path / "both.onnx", append_to=base, output_is="probabilities")
        x, _ = features(100, 2)
        results = run(tmp_path / "both.onnx", {"X": x})
        with np.errstate(divide="ignore"):
            expected = model.rerank(np.log(results["probabilities"]))
        np.testing.assert_array_equal(results[RANKED[0]], expected.ids)  # also classes with probability 0


@pytest.mark.needs("torch", "onnxscript")
def test_a_torch_classifier(model, tmp_path):
    import warnings

    import torch

    network = torch.nn.Sequential(torch.nn.Linear(WIDTH, 16), torch.nn.ReLU(), torch.nn.Linear(16, K)).eval()
    x = features(50, 1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the exporter
        program = torch.onnx.export(
            network, (torch.from_numpy(x),), input_names=["x"], output_names=["logits"], dynamo=True, verbose=False,
            dynamic_shapes=({0: torch.export.Dim("rows")},),
        )  # fmt: skip
        base = program.model_proto
    to_onnx(model, tmp_path / "both.onnx", append_to=base)
    results = check(model, tmp_path / "both.onnx", x, "logits")
    with torch.no_grad():
        np.testing.assert_allclose(results["logits"], network(torch.from_numpy(x)).numpy(), atol=1e-5)
    alone = run(tmp_path / "both.onnx", {"x": x[:1]})
    np.testing.assert_array_equal(alone[RANKED[0]], results[RANKED[0]][:1])


@pytest.mark.parametrize(
    ("base", "options", "message"),
    [
        (classifier(operator="Softmax"), {}, "seems to hold probabilities"),
        (classifier(operator="Sigmoid"), {"output": "logits"}, "seems to hold probabilities"),
        (classifier(width=7, shape=("rows", 7)), {}, "has 7 columns, but the model needs 6"),
        (classifier(), {"output": "scores"}, "no output 'scores'; its outputs are logits"),
        (classifier(), {"embeddings_output": "logits"}, "this model reads no embeddings"),
        (classifier(), {"output_is": "logits"}, "output_is is 'logits'"),
        (classifier(), {"inputs": "candidates"}, "leave inputs='candidates' out"),
        ("there is none", {}, "No such file"),
        (7, {}, "the classifier is int; pass a path"),
    ],
)
def test_what_cannot_be_joined_is_refused(model, base, options, message):
    with pytest.raises((InputError, OSError), match=message):
        to_onnx(model, append_to=base, **options)


def test_one_of_several_outputs_must_be_named(model):
    base = classifier()
    base.graph.node.append(helper.make_node("Neg", ["logits"], ["others"]))
    base.graph.output.append(helper.make_tensor_value_info("others", TensorProto.FLOAT, ["rows", K]))
    with pytest.raises(InputError, match="has 2 outputs that can be the scores of 6 classes; pass output=…, one of"):
        to_onnx(model, append_to=base)
    to_onnx(model, append_to=base, output="others")


def test_a_file_is_not_joined_twice(model):
    both = to_onnx(model, append_to=classifier())
    with pytest.raises(InputError, match="contains a reranker already"):
        to_onnx(model, append_to=both, output="logits")


def test_options_of_a_classifier_need_one(model):
    with pytest.raises(InputError, match="describe a classifier; pass append_to"):
        to_onnx(model, output="logits")
