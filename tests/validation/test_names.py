import numpy as np
import pytest

from repair import InputError, Reranker
from repair.validation.names import align_columns, align_to_classes, class_vector

NAMES = tuple(f"class {i}" for i in range(20))


def test_mappings_are_matched_by_name_or_id():
    assert align_to_classes({"b": 2, "a": 1}, "counts", 2, ["a", "b"]) == [1, 2]
    assert align_to_classes({1: 2, 0: 1}, "counts", 2, ["a", "b"]) == [1, 2]
    assert align_to_classes([3, 4], "counts", 2, None) == [3, 4]
    assert class_vector({"b": 2, "a": 0}, "counts", 2, ["a", "b"]).tolist() == [0.0, 2.0]
    with pytest.raises(InputError, match=r"counts\[0\] is 0.0; every class needs a finite number that is positive"):
        class_vector({"b": 2, "a": 0}, "counts", 2, ["a", "b"], positive=True)


@pytest.mark.needs("pandas")
def test_counts_in_order_of_frequency_are_put_in_class_order(problem):
    import pandas

    by_name = pandas.Series(problem.class_counts, index=NAMES).sort_values()
    by_id = pandas.Series(problem.class_counts).sort_values()
    expected = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, problem.labels, class_counts=problem.class_counts
    )
    for counts in (by_name, by_id, dict(by_name)):
        model = Reranker("pairwise", n_candidates=problem.k).fit(
            problem.scores, problem.labels, class_counts=counts, class_names=NAMES
        )
        assert (model.class_counts_ == problem.class_counts).all()
        assert (model.offsets_ == expected.offsets_).all()
    reversed_counts = dict(zip(reversed(NAMES), reversed(problem.class_counts), strict=True))
    by_mapping = model.rerank(problem.scores, target_prior=reversed_counts, class_costs=reversed_counts)
    by_array = model.rerank(problem.scores, target_prior=problem.class_counts, class_costs=problem.class_counts)
    assert (by_mapping.ids == by_array.ids).all()


@pytest.mark.needs("pandas")
def test_columns_of_a_data_frame_are_matched_by_name(problem):
    import pandas

    frame = pandas.DataFrame(problem.scores, columns=NAMES)
    shuffled = frame[list(reversed(NAMES))]
    labels = np.array(NAMES)[problem.labels]
    model = Reranker("pairwise", n_candidates=problem.k).fit(
        frame, labels, **problem.optional_fields
    )  # the columns serve as class names
    assert (model.predict(shuffled) == model.predict(frame)).all()
    assert (model.predict(problem.scores) == model.predict(frame)).all()
    other = Reranker("pairwise", n_candidates=problem.k).fit(
        shuffled, labels, class_names=NAMES, **problem.optional_fields
    )
    assert (other.offsets_ == model.offsets_).all()
    with pytest.raises(InputError, match="scores has an entry for 'x', which is not one of the 20 classes"):
        model.predict(frame.rename(columns={"class 3": "x"}))
    with pytest.raises(InputError, match="scores has no column 'class 19'; every class needs one"):
        model.predict(frame.iloc[:, :19])


@pytest.mark.needs("pandas")
def test_numbered_columns_are_taken_in_their_order(problem):
    import pandas

    frame = pandas.DataFrame(problem.scores)
    assert align_columns(frame, NAMES) is frame
    with pytest.raises(InputError, match="a repeated index entry"):
        align_to_classes(pandas.Series([1, 2], index=["a", "a"]), "counts", 2, ["a", "b"])


def test_a_row_of_a_data_frame_is_put_into_class_order():
    import pandas as pd

    row = pd.Series({"b": 2.0, "a": 1.0})
    assert align_columns(row, ("a", "b")).tolist() == [1.0, 2.0]
    assert align_columns(pd.Series([2.0, 1.0]), ("a", "b")).tolist() == [2.0, 1.0]
    with pytest.raises(InputError, match="scores has no column 'b'"):
        align_columns(pd.Series({"a": 1.0}), ("a", "b"))
