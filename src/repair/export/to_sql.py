"""``to_sql``: the fitted model as one SQL query over a table of candidates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.export.ops import LARGEST_SCORE
from repair.export.plan import Plan, TermPlan, plan_of
from repair.rerankers.base import ShortlistReranker
from repair.validation.checks import check_choice

__all__ = ["to_sql"]

#: With more pairs of classes than this, a query is too long to be useful.
MOST_PAIRS = 1_000_000
CLASSES = ("ids", "names")
#: A name in SQL, with the schema in front or not.
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*){0,2}")
DOUBLE = "DOUBLE PRECISION"
#: For each formula, the expressions whose mean over the row's candidates it needs.
MEANS = {
    "score_gap": {"adjusted": "adjusted"},
    "rank_gap": {"rank": "-adjusted_rank"},
    "log_freq_ratio": {"log_counts": "log_counts"},
    "score_by_frequency": {"adjusted": "adjusted"},
    "similarity": {},
}


def to_sql(
    model: ShortlistReranker,
    *,
    table: str = "candidates",
    query_id: str = "query_id",
    class_column: str = "class",
    score: str = "score",
    classes: str = "ids",
    **settings: Any,
) -> str:
    """Return a query that reranks the candidates in a table, with the same order as ``model.rerank``.

    It is written for DuckDB and PostgreSQL.  It contains the fitted numbers, so the table of candidates is
    all that it reads.

    Parameters
    ----------
    model : Reranker or baseline
        A fitted classwise or pairwise model, or a baseline.  Learned terms are refused by name, except for
        ``score_by_frequency``.
    table : str, default "candidates"
        Name of the table or view, with its schema or not.
    query_id, class_column, score : str, default "query_id", "class" and "score"
        Names of its columns.  There is one line per query and candidate.
    classes : {"ids", "names"}, default "ids"
        What the column of the classes holds.
    **settings
        ``dial``, ``strength``, ``target_prior`` and ``class_costs``, as in ``rerank``.  They are fixed in
        the query.

    Returns
    -------
    str
        The query.  Its result has the columns of the query and the class, ``position`` (0 is best),
        ``score`` and ``probability``.  Candidates without a usable score are left out.

    Examples
    --------
    >>> from repair import Reranker
    >>> from repair.export import to_sql
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 1]
    >>> model = Reranker("classwise", n_candidates=2, lambda_a=1e-3).fit(scores, labels)
    >>> to_sql(model).startswith("WITH class_numbers")
    True
    """
    check_choice(classes, "classes", CLASSES)
    for value, name in ((table, "table"), (query_id, "query_id"), (class_column, "class_column"), (score, "score")):
        if not isinstance(value, str) or NAME.fullmatch(value) is None:
            raise InputError(f"{name} is {value!r}; pass a name of letters, digits and underscores")
    plan = plan_of(model, **settings)
    _check(plan, classes)
    columns = {name: _quoted(value) for name, value in (("query", query_id), ("class", class_column), ("score", score))}
    parts = [
        f"WITH class_numbers AS (\n{_class_numbers(plan, classes)}\n)",
        *([f"class_pairs AS (\n{_pairs(plan)}\n)"] if _similarity(plan) else []),
        f"given AS (\n{_given(plan, _quoted(table), columns)}\n)",
        f"listed AS (\n{_listed(plan)}\n)",
        f"row_numbers AS (\n{_row_numbers(plan)}\n)",
        *([f"similarities AS (\n{SIMILARITIES}\n)"] if _similarity(plan) else []),
        f"corrected AS (\n{_corrected(plan)}\n)",
    ]
    return ",\n".join(parts) + "\n" + _result(columns)


def _check(plan: Plan, classes: str) -> None:
    """Raise an error for a model that the query cannot compute."""
    for term in plan.terms:
        if term.kind not in MEANS:
            raise InputError(
                f"the term {term.name!r} cannot be exported to SQL, because it multiplies vectors or searches "
                "neighbours; export to ONNX, or fit a classwise or pairwise model"
            )
    if plan.cuts:
        raise InputError(
            f"the model ranks {plan.width} candidates and returns {plan.n_candidates}, which the query does not do; "
            "export to ONNX, or fit with ExtendedOptions(n_ranked=…) of the same number"
        )
    if classes == "names" and plan.class_names is None:
        raise InputError("the model has no class names; pass classes='ids', or fit with class_names")
    entries = 0 if _similarity(plan) is None else int(np.count_nonzero(_matrix(plan)))
    if entries > MOST_PAIRS:
        raise InputError(
            f"the term 'similarity' cannot be exported to SQL: {entries} similarities are more than the {MOST_PAIRS} "
            "that a query can hold; fit with a sparse similarity or without the term"
        )


def _similarity(plan: Plan) -> TermPlan | None:
    return next((term for term in plan.terms if term.kind == "similarity"), None)


def _matrix(plan: Plan) -> AnyArray:
    """Return the similarities with 0 on the diagonal, which is never used."""
    term = _similarity(plan)
    assert term is not None
    matrix = plan.constants[term.arrays["matrix"]].reshape(plan.n_classes, plan.n_classes).copy()
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _class_numbers(plan: Plan, classes: str) -> str:
    """Return one line per class with its fitted numbers."""
    columns = {name: array for name, array in _vectors(plan).items() if len(array) == plan.n_classes}
    names = [str(number) for number in range(plan.n_classes)]
    if classes == "names":
        assert plan.class_names is not None
        names = [f"{number}, {_text(name)}" for number, name in enumerate(plan.class_names)]
    lines = [
        ", ".join([name, *(_number(array[number]) for array in columns.values())]) for number, name in enumerate(names)
    ]
    label = ["class_id", "class_label"] if classes == "names" else ["class_id"]
    typed = [f"CAST({name} AS {DOUBLE}) AS {name}" for name in columns]
    shown = ", ".join([*label, *([] if classes == "names" else ["class_id AS class_label"]), *typed])
    values = ",\n".join(f"    ({line})" for line in lines)
    return f"  SELECT {shown}\n  FROM (VALUES\n{values}\n  ) AS fitted ({', '.join([*label, *columns])})"


def _vectors(plan: Plan) -> dict[str, AnyArray]:
    """Return the fitted numbers that the query needs, by the names of their columns."""
    used: dict[str, AnyArray] = {
        name: plan.constants[name] for name in ("offsets", "pre_adjustment", "scale") if name in plan.constants
    }
    used |= {name: plan.constants[name] for name in (*plan.adjustments, *(plan.beliefs or ()))}
    for term in plan.terms:
        if term.kind == "log_freq_ratio":
            used["log_counts"] = plan.constants[term.arrays["log_counts"]]
        if term.kind == "score_by_frequency":
            used["relative_log_counts"] = plan.constants[term.arrays["relative_log_counts"]]
    return used


def _pairs(plan: Plan) -> str:
    matrix = _matrix(plan)
    values = ",\n".join(f"    ({row}, {column}, {_number(matrix[row, column])})" for row, column in np.argwhere(matrix))
    values = values or f"    (-1, -1, {_number(0.0)})"
    return (
        f"  SELECT class_id, rival_id, CAST(similarity AS {DOUBLE}) AS similarity\n  FROM (VALUES\n{values}\n"
        "  ) AS fitted (class_id, rival_id, similarity)"
    )


def _given(plan: Plan, table: str, columns: dict[str, str]) -> str:
    """Return the candidates with their fitted numbers.  NaN and infinite scores are no candidates."""
    numbers = "".join(f", fitted.{name}" for name, array in _vectors(plan).items() if len(array) == plan.n_classes)
    adjusted = f"source.{columns['score']}"
    return (
        f"  SELECT source.{columns['query']} AS query_id, fitted.class_id, fitted.class_label,\n"
        f"    CAST({adjusted} AS {DOUBLE}) AS base_score{numbers}\n"
        f"  FROM {table} AS source\n"
        f"  JOIN class_numbers AS fitted ON fitted.class_label = source.{columns['class']}\n"
        f"  WHERE CAST({adjusted} AS {DOUBLE}) BETWEEN {_number(-LARGEST_SCORE)} AND {_number(LARGEST_SCORE)}"
    )


def _listed(plan: Plan) -> str:
    """Return the candidates with their place in the base order."""
    adjusted = "base_score + pre_adjustment" if "pre_adjustment" in plan.constants else "base_score"
    return (
        "  SELECT placed.*,\n"
        "    ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY adjusted DESC, place) - 1 AS adjusted_rank\n"
        "  FROM (\n"
        f"    SELECT given.*, {adjusted} AS adjusted,\n"
        "      ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY base_score DESC, class_id) - 1 AS place\n"
        "    FROM given\n"
        f"  ) AS placed WHERE place <= {plan.width}"
    )


def _row_numbers(plan: Plan) -> str:
    """Return the number of candidates of each row, and means over them, added up in base order as in numpy."""
    means = {name: expression for term in plan.terms for name, expression in MEANS[term.kind].items()}
    sums = "".join(
        f",\n    SUM(CAST({expression} AS {DOUBLE}) ORDER BY place) / COUNT(*) AS mean_{name}"
        for name, expression in means.items()
    )
    return (
        f"  SELECT query_id AS row_id, CAST(COUNT(*) AS {DOUBLE}) AS length,\n"
        f"    CAST(CASE WHEN COUNT(*) > 1 THEN COUNT(*) - 1 ELSE 1 END AS {DOUBLE}) AS rivals{sums}\n"
        "  FROM listed GROUP BY query_id"
    )


SIMILARITIES = """\
  SELECT one.query_id AS pair_row, one.class_id AS pair_class,
    SUM(COALESCE(class_pairs.similarity, 0) ORDER BY rival.place) AS summed
  FROM listed AS one
  JOIN listed AS rival ON rival.query_id = one.query_id AND rival.class_id <> one.class_id
  LEFT JOIN class_pairs ON class_pairs.class_id = one.class_id AND class_pairs.rival_id = rival.class_id
  GROUP BY one.query_id, one.class_id"""


def _corrected(plan: Plan) -> str:
    final = _total(plan, plan.strength, plan.adjustments)
    belief = final if plan.beliefs is None else _total(plan, 1.0, plan.beliefs)
    similar = ""
    if _similarity(plan):
        similar = "\n  LEFT JOIN similarities ON pair_row = query_id AND pair_class = class_id"
    return (
        "  SELECT query_id, class_label, place,\n"
        f"    {final} AS final_score,\n    {belief} AS belief\n"
        f"  FROM listed JOIN row_numbers ON row_id = query_id{similar}"
    )


def _total(plan: Plan, strength: float, adjustments: tuple[str, ...]) -> str:
    """Return the sum in the order of the library."""
    scaled = "adjusted"
    if "scale" in plan.constants:
        single = len(plan.constants["scale"]) == 1
        scaled = f"adjusted * {_number(plan.constants['scale'][0]) if single else 'scale'}"
    parts = [scaled]
    if strength != 1.0:
        parts = ["base_score"]
        if "pre_adjustment" in plan.constants:
            parts.append(f"{_number(strength)} * pre_adjustment")
        if "scale" in plan.constants:
            parts.append(f"{_number(strength)} * ({scaled} - adjusted)")
    if "offsets" in plan.constants:
        parts.append(f"{_number(strength)} * offsets")
    parts += [f"{_number(strength * term.weight)} * {_column(term)}" for term in plan.terms]
    return " + ".join([*parts, *adjustments])


def _column(term: TermPlan) -> str:
    """Return the expression of a term's column."""
    if term.kind == "similarity":
        return "(COALESCE(summed, 0) / rivals)"
    ((name, expression),) = MEANS[term.kind].items()
    centred = f"({expression} - mean_{name})"
    if term.kind == "score_by_frequency":
        return f"({centred} * relative_log_counts)"
    return f"({centred} * (length / rivals))"


def _result(columns: dict[str, str]) -> str:
    share = "EXP(belief - MAX(belief) OVER (PARTITION BY query_id))"
    return (
        f"SELECT query_id AS {columns['query']}, class_label AS {columns['class']},\n"
        "  ROW_NUMBER() OVER (PARTITION BY query_id ORDER BY final_score DESC, place) - 1 AS position,\n"
        "  final_score AS score, share / SUM(share) OVER (PARTITION BY query_id) AS probability\n"
        f"FROM (SELECT corrected.*, {share} AS share FROM corrected) AS shares\n"
        f"ORDER BY {columns['query']}, position\n"
    )


def _quoted(name: str) -> str:
    return ".".join(f'"{part}"' for part in name.split("."))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _number(value: float) -> str:
    """Return a number with all its digits and an exponent, with which DuckDB reads it as a double."""
    return f"{float(value):.16e}"
