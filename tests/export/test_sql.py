"""The SQL query against the shared cases, in DuckDB."""

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb", reason="needs duckdb, which is not installed (make test EXTRAS=all)")

from repair import InputError, Reranker  # noqa: E402
from repair.export import to_sql  # noqa: E402
from runtimes import RANKED, RUNTIMES, accepted, model_of, refused, settings_of  # noqa: E402


def candidates_of(case):
    """Return the candidates of a case: those given, or the best of all classes."""
    given = model_of(case.model_path).shortlist(case.input(), case.embeddings)
    return given.ids, given.scores


def run(query, ids, scores, classes=None):
    """Run a query on candidates in a random order, and return its ranking with padding."""
    rows, places = np.nonzero(ids >= 0)
    mixed = np.random.default_rng(0).permutation(len(rows))
    rows, places = rows[mixed], places[mixed]
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    kind = "INTEGER" if classes is None else "VARCHAR"
    connection.execute(f"CREATE TABLE candidates (query_id INTEGER, class {kind}, score DOUBLE)")
    listed = ids[rows, places].tolist()
    lines = zip(
        rows.tolist(),
        listed if classes is None else [classes[one] for one in listed],
        scores[rows, places].tolist(),
        strict=True,
    )
    given = [list(line) for line in lines]
    if given:
        connection.executemany("INSERT INTO candidates VALUES (?, ?, ?)", given)
    ranked = np.full(ids.shape, -1), np.full(ids.shape, -np.inf), np.zeros(ids.shape)
    for row, name, place, *numbers in connection.execute(query).fetchall():
        number = name if classes is None else classes.index(name)
        for array, value in zip(ranked, (number, *numbers), strict=True):
            array[row, place] = value
    return ranked


@pytest.mark.parametrize("case", accepted("SQL"), ids=str)
def test_the_query_in_duckdb(case):
    model = model_of(case.model_path)
    case.check(*run(to_sql(model, **settings_of(case)), *candidates_of(case)))


@pytest.mark.parametrize("case", refused("SQL"), ids=str)
def test_what_cannot_be_exported_is_refused_by_name(case):
    with pytest.raises(InputError, match=RUNTIMES["SQL"](case)[0]):
        to_sql(model_of(case.model_path))


def test_classes_by_name():
    case = next(case for case in RANKED if case.name == "pairwise_names/plain")
    model = model_of(case.model_path)
    names = model.state.correction.table.class_names
    case.check(*run(to_sql(model, classes="names"), *candidates_of(case), list(names)))


@pytest.fixture
def model(problem):
    return Reranker("pairwise", n_candidates=5).fit(problem.scores, problem.labels, **problem.optional_fields)


def test_other_names_of_the_table_and_its_columns(model, problem):
    query = to_sql(model, table="main.lists", query_id="order", class_column="Product", score="logit")
    connection = duckdb.connect()
    connection.execute('CREATE TABLE lists ("order" VARCHAR, "Product" INTEGER, "logit" FLOAT)')
    connection.execute("INSERT INTO lists VALUES ('a', 3, 0.5), ('a', 0, 0.25), ('b', 7, 1.0)")
    result = connection.execute(query).fetch_df()
    assert list(result.columns) == ["order", "Product", "position", "score", "probability"]
    assert result["order"].tolist() == ["a", "a", "b"]
    assert result["probability"].tolist()[2] == 1.0


def test_scores_that_the_library_refuses_are_no_candidates(model):
    ids = np.array([[0, 1, 2, 3, 4, 5]])
    scores = np.array([[1.0, np.nan, np.inf, 2e30, -2e30, 0.5]])
    ranked, _, _ = run(to_sql(model), ids, scores)
    assert sorted(ranked[0, :2].tolist()) == [0, 5]
    assert ranked[0, 2:].tolist() == [-1] * 4


@pytest.mark.parametrize("name", ["candidates; DROP TABLE x", 'a"b', "", "1x", 7])
def test_names_cannot_smuggle_in_sql(model, name):
    with pytest.raises(InputError, match="pass a name of letters, digits and underscores"):
        to_sql(model, table=name)


def test_names_of_classes_are_quoted(problem):
    names = [f"it's {number}" for number in range(20)]
    model = Reranker("classwise", n_candidates=3).fit(problem.scores, problem.labels, class_names=names)
    expected = model.rerank(problem.scores[:4])
    given = model.shortlist(problem.scores[:4])
    ids, scores, _ = run(to_sql(model, classes="names"), given.ids, given.scores, names)
    np.testing.assert_array_equal(ids, expected.ids)
    np.testing.assert_array_equal(scores, expected.scores)


def test_names_that_the_model_lacks_are_refused(model):
    with pytest.raises(InputError, match="the model has no class names"):
        to_sql(model, classes="names")
