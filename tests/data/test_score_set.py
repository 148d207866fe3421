from dataclasses import fields

import numpy as np
import pytest

from repair import Reranker, ScoreSet, Shortlist
from repair.data.score_set import CLASS_FIELDS, EMBEDDING_FIELDS, ROW_FIELDS, SHAPES


def test_every_array_has_a_shape_and_belongs_to_rows_classes_or_references():
    others = [entry.name for entry in fields(ScoreSet) if entry.name not in SHAPES]
    assert others == [
        "equal_group_weight",
        "score_type",
    ]
    assert ROW_FIELDS == ("scores", "labels", "groups", "sample_weight", "embeddings")
    assert {"class_counts", "class_weights", "similarity", "class_names"} < set(CLASS_FIELDS)
    assert EMBEDDING_FIELDS == ("embeddings", "reference_embeddings", "reference_labels")
    assert {*ROW_FIELDS, *CLASS_FIELDS, *EMBEDDING_FIELDS} == set(SHAPES)


def test_taking_rows_takes_all_row_fields(problem):
    groups = np.arange(300) // 2
    rows = ScoreSet(
        problem.scores, problem.labels, groups=groups, sample_weight=groups + 1.0, **problem.optional_fields
    )
    part = rows.take(np.arange(300) % 3 == 0)
    assert len(part) == 100
    assert (np.asarray(part.scores) == problem.scores[::3]).all()
    assert (np.asarray(part.labels) == problem.labels[::3]).all()
    assert (part.groups == groups[::3]).all()
    assert part.class_counts is rows.class_counts
    model = Reranker("pairwise", n_candidates=problem.k).fit(part.scores, part.labels, **part.optional_fields)
    assert model.fit_summary_.n_rows == 100


def test_rows_of_shortlists_and_lists_can_be_taken(problem):
    shortlist = Shortlist.from_scores(problem.scores, 5)
    part = ScoreSet(shortlist, problem.labels.tolist()).take([5, 3])
    assert (part.scores.ids == shortlist.ids[[5, 3]]).all()
    assert part.shortlist(5).ids is part.scores.ids
    assert (part.shortlist(3).ids == part.scores.ids[:, :3]).all()
    assert ScoreSet(problem.scores, problem.labels).shortlist(4).n_candidates == 4


@pytest.mark.needs("pandas")
def test_data_frames_keep_their_columns(problem):
    import pandas

    names = [f"c{i}" for i in range(20)]
    frame = pandas.DataFrame(problem.scores, columns=names, index=np.arange(300) + 7)
    part = ScoreSet(frame, pandas.Series(problem.labels, index=frame.index)).take([1, 0])
    assert list(part.scores.columns) == names
    assert np.asarray(part.labels).tolist() == problem.labels[[1, 0]].tolist()
    turned = part.shortlist(3, class_names=names[::-1])
    assert (19 - turned.ids == Shortlist.from_scores(problem.scores[[1, 0]], 3).ids).all()
