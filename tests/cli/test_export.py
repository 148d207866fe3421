"""``repair export``."""

import json

import numpy as np
import pytest

from repair import Reranker

pytestmark = pytest.mark.needs("typer")


@pytest.fixture
def model(problem, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted = Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)
    fitted.save(path)
    return path


def test_a_query_is_printed_or_written(repair, model, tmp_path):
    printed = repair("export", model, "--to", "sql", "--table", "lists", "--dial", "0.5")
    assert printed.code == 0
    assert printed.out.startswith("WITH class_numbers AS (")
    assert 'FROM "lists" AS source' in printed.out
    done = repair("export", model, "--to", "sql", "--table", "lists", "--dial", "0.5", "-o", tmp_path / "rerank.sql")
    assert (done.code, done.out) == (0, f"Wrote the query to {tmp_path / 'rerank.sql'}.\n")
    assert (tmp_path / "rerank.sql").read_text().rstrip() == printed.out.rstrip()


@pytest.mark.needs("onnx", "onnxruntime")
class TestOnnx:
    def test_a_graph_is_written_and_verified(self, repair, model, tmp_path):
        path = tmp_path / "model.onnx"
        done = repair("export", model, "--to", "onnx", "-o", path)
        assert (done.code, done.err) == (0, "")
        assert "from scores to reranked_ids, reranked_scores, reranked_probabilities" in done.out
        verified = repair("export", "--verify", path)
        assert verified.code == 0
        assert "gives the library's ranking: the order is the same on 8 of 8 rows." in verified.out
        assert json.loads(repair("export", "--verify", path, "--json").out)["passed"] is True

    def test_a_changed_graph_fails(self, repair, model, tmp_path):
        import onnx

        path = tmp_path / "model.onnx"
        repair("export", model, "--to", "onnx", "-o", path)
        made = onnx.load(path)
        offsets = next(tensor for tensor in made.graph.initializer if tensor.name == "repair_offsets")
        changed = onnx.numpy_helper.to_array(offsets) + np.linspace(1.0, 2.0, 20)
        offsets.CopyFrom(onnx.numpy_helper.from_array(changed, offsets.name))
        onnx.save(made, path)
        verified = repair("export", "--verify", path)
        assert verified.code == 1
        assert "does not give the library's ranking" in verified.out

    def test_a_classifier_is_joined(self, repair, model, tmp_path):
        import onnx
        from onnx import TensorProto, helper

        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 20]) for name in ("x", "probs")]
        graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["probs"])], "classifier", info[:1], info[1:])
        opset = [helper.make_opsetid("", 18)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "classifier.onnx")
        arguments = ("export", model, "--to", "onnx", "-o", tmp_path / "both.onnx", "--append-to")
        refused = repair(*arguments, tmp_path / "classifier.onnx")
        assert refused.code == 2
        assert "--output-is probabilities" in refused.err
        done = repair(*arguments, tmp_path / "classifier.onnx", "--output-is", "probabilities")
        assert "from x to probs, reranked_ids" in done.out
        assert "behind its classifier" in repair("export", "--verify", tmp_path / "both.onnx").out
        assert repair(*arguments, tmp_path / "none.onnx").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give a model to export"),
        (("MODEL",), "--to is None"),
        (("MODEL", "--to", "onnx"), "give the file to write with --out"),
        (("MODEL", "--to", "sql", "-o", "MODEL"), "would be overwritten"),
        (("MODEL", "--to", "sql", "--class-names"), "the model has no class names"),
        (("MODEL", "--verify", "MODEL"), "give it alone"),
        (("--verify", "MODEL"), "is not an ONNX file"),
    ],
)
def test_what_is_refused(repair, model, arguments, message):
    if "--verify" in arguments:
        pytest.importorskip("onnxruntime")
    before = model.read_bytes()
    done = repair("export", *(model if word == "MODEL" else word for word in arguments))
    assert done.code == 2
    assert message in done.err
    assert model.read_bytes() == before
