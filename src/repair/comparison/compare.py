"""``compare``: the paper's trials for several methods, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.progress import progress_bar
from repair.comparison.numbers import Setup
from repair.comparison.resampled_metrics import metric_values, resample_metrics
from repair.comparison.result import Comparison
from repair.data.duplicates import in_both
from repair.data.ranking import Ranking
from repair.data.score_set import ScoreSet, on_one_scale
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import label_ids
from repair.errors import InputError, InputWarning, warn_user
from repair.evaluation.evaluate import Evaluation, evaluate
from repair.rerankers.base import ShortlistReranker
from repair.similarity import as_similarity
from repair.stats.folds import subsample as draw_rows
from repair.stats.row_weights import number_of_units
from repair.stats.strata import STRATA, class_strata
from repair.validation.checks import (
    check_choice,
    check_class_names,
    check_count,
    check_group_codes,
    check_labels,
    check_number,
)
from repair.validation.names import class_vector, column_names

__all__ = ["compare"]

#: Rows are compared by the scores of this many candidates.
SHARED_WIDTH = 10
TUNINGS = ("once", "each_trial")

Progress = Callable[[int, int, str], object]


def compare(
    methods: Mapping[str, ShortlistReranker],
    calibration: ScoreSet,
    test: ScoreSet,
    *,
    trials: int = 5,
    subsample: float = 0.8,
    reference: str | None = None,
    tuning: str = "once",
    resamples: int = 10_000,
    level: float = 0.95,
    strata: str | None = None,
    random_state: int = 0,
    progress: bool | Progress = False,
) -> Comparison:
    """Compare methods by the paper's protocol.

    Each trial fits every method on a new subsample of the calibration set, which is the same for all
    methods, and scores it on the test rows.  One more fit on all calibration rows gives the *full*
    models.  Bootstrap intervals, differences and per-row outputs refer to the full models.  No fit
    sees the test set.

    Parameters
    ----------
    methods : mapping from str to reranker
        The methods by the names that the tables show.  They are copied, never fitted or changed.
    calibration, test : ScoreSet
        The rows to fit on and the rows to score, both with labels.  The class counts of `test`
        define rare and frequent classes.  If it has none, those of `calibration` do, or else the
        calibration labels.  The tables say which.
    trials : int, default 5
        Number of trials.  Five is the paper's number.  More trials make the sign test stronger.
    subsample : float in (0, 1], default 0.8
        Share of the calibration rows in each trial, or of the groups if `calibration` has groups.
        0.8 is the paper's value.
    reference : str, optional
        Name of the method to compare the others with.  The default is the first method.  Set it to
        the method that you want to beat.
    tuning : {"once", "each_trial"}, default "once"
        Whether hyperparameters that a method chooses itself are chosen once on all calibration
        rows, as in the paper, or again in each trial.  Use ``"each_trial"`` if the spread over trials
        should include the uncertainty of that choice.
    resamples : int, default 10000
        Number of bootstrap resamples of the test rows, or of whole groups if `test` has groups.  All
        methods and metrics use the same resamples.  Lower it for a quick look.
    level : float in (0, 1), default 0.95
        Level of the percentile intervals.  Use 0.99 for wider intervals.
    strata : {"paper", "mass", "counts"}, optional
        How classes are divided by their counts, as in `class_strata`.  Use ``"paper"`` to reproduce the
        paper, and ``"counts"`` for few, medium and many examples.
    random_state : int, default 0
        Seed for subsamples and resamples.
    progress : bool or callable, default False
        True shows a progress bar (needs the extra ``cli``).  A callable is called as
        ``progress(done, total, label)`` after each fit.

    Returns
    -------
    Comparison
        It prints as tables, and ``write(folder)`` writes them as Markdown, LaTeX, CSV and JSON.

    Notes
    -----
    Trials overlap and share one test set, so their spread, and a sign test over them, measure the
    uncertainty from the calibration sample only.  The bootstrap measures the uncertainty from the
    test sample only.  With five trials the p-value of the sign test cannot be below 1/32, and after
    Holm's correction none is below 5 %.  So the paper's mark for four wins in five trials is not a
    test at 5 %.

    Holm's correction runs across metrics, separately for each pair of methods.  If all methods cover
    the same rows, gap closed and accuracy order methods exactly as Hit@1 does, so they are not
    counted as separate tests and share its adjusted p-value.

    Macro has no interval.  A bootstrap cannot measure the variation within classes that have one or
    two rows, so its intervals would be too short.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.datasets import SyntheticSettings, make_synthetic
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> methods = {"base": Base(5), "ours": Reranker("pairwise", n_candidates=5)}
    >>> comparison = compare(methods, *sets, trials=3, resamples=200)
    >>> comparison
    Comparison(2 methods, 3 trials, 300 test rows)
    >>> comparison.std("base", "hit@1"), comparison.signs("ours", "base")["hit@1"].wins
    (0.0, 3)
    """
    named = _check_methods(methods)
    first = next(iter(named)) if reference is None else reference
    if first not in named:
        raise InputError(f"reference is {first!r}; choose one of {', '.join(map(repr, named))}")
    check_count(trials, "trials")
    check_number(subsample, "subsample", 0.0, 1.0, open_low=True)
    check_choice(tuning, "tuning", TUNINGS)
    check_count(resamples, "resamples")
    if check_number(level, "level", 0.0, 1.0, open_low=True) == 1.0:
        raise InputError(f"level must be below 1, got {level}")
    if strata is not None:
        check_choice(strata, "strata", tuple(STRATA))
    names, n_classes = _check_classes(calibration, test)
    calibration, test = on_one_scale(calibration, test)
    calibration_rows = _CalibrationRows.build(calibration, names, n_classes)
    test_rows = _TestRows.build(test, calibration_rows, strata)
    _warn_of_shared_rows(calibration, test)
    # One seed for the bootstrap and one per trial.  With more trials, the first ones stay the same.
    seeds = np.random.SeedSequence(check_count(random_state, "random_state", low=0)).generate_state(trials + 1).tolist()
    setup = Setup(
        trials=int(trials),
        subsample=float(subsample),
        tuning=tuning,
        resamples=int(resamples),
        level=float(level),
        random_state=int(random_state),
        trial_seeds=tuple(seeds[1:]),
        bootstrap_seed=seeds[0],
        n_calibration=len(calibration_rows.ids),
        n_calibration_groups=_number_of(calibration_rows.groups),
        n_test=len(test_rows.labels),
        n_test_groups=_number_of(test_rows.groups),
        n_classes=n_classes,
        counts_from=test_rows.counts_from,
        equal_group_weight=test_rows.weighted,
        strata_rule=class_strata(test_rows.class_counts, strata).description,
    )
    if callable(progress):
        return _run(named, first, calibration_rows, test_rows, setup, progress)
    with progress_bar("comparing", len(named) * (1 + setup.trials), show=progress) as step:
        return _run(named, first, calibration_rows, test_rows, setup, lambda *_: step())


def _run(
    methods: dict[str, ShortlistReranker],
    reference: str,
    calibration_rows: _CalibrationRows,
    test_rows: _TestRows,
    setup: Setup,
    progress: Progress,
) -> Comparison:
    """Fit and score all methods, and resample the metrics of the full models."""
    models: dict[str, ShortlistReranker] = {}
    results: dict[str, Evaluation] = {}
    scored: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
    total = len(methods) * (1 + setup.trials)
    for done, (name, trial, model) in enumerate(_fits(methods, calibration_rows, setup), 1):
        ranking, result = test_rows.score(model)
        if trial == 0:
            models[name] = model
            results[name] = replace(result, rows={**result.rows, "best": ranking.best})
        else:
            scored[name].append(metric_values(result))
        progress(done, total, f"{name}, trial {trial}" if trial else f"{name}, all rows")
    rows = {name: result.rows for name, result in results.items()}
    weights = next(iter(results.values())).weights
    return Comparison(
        methods=tuple(methods),
        reference=reference,
        setup=setup,
        trials={
            name: {metric: np.array([trial[metric] for trial in values]) for metric in values[0]}
            for name, values in scored.items()
        },
        full={name: metric_values(result) for name, result in results.items()},
        rows=rows,
        models=models,
        labels=test_rows.labels,
        draws=resample_metrics(list(rows.values()), weights, test_rows.groups, setup.resamples, setup.bootstrap_seed),
    )


def _fits(
    methods: dict[str, ShortlistReranker], calibration_rows: _CalibrationRows, setup: Setup
) -> Iterator[tuple[str, int, ShortlistReranker]]:
    """Yield (name, trial, fitted model), where trial 0 is the fit on all calibration rows.

    This function does not get the test set, so no fit can depend on it.
    """
    parts = [
        draw_rows(len(calibration_rows.ids), calibration_rows.groups, setup.subsample, seed)
        for seed in setup.trial_seeds
    ]
    for name, method in methods.items():
        rows = calibration_rows.rows(method)
        full = _fit(method.clone(), rows, f"method {name!r}, all calibration rows")
        yield name, 0, full
        again = full.with_chosen_parameters() if setup.tuning == TUNINGS[0] else method
        for trial, part in enumerate(parts, 1):
            yield name, trial, _fit(again.clone(), rows.take(part), f"method {name!r}, trial {trial}")


def _fit(model: ShortlistReranker, rows: ScoreSet, where: str) -> ShortlistReranker:
    """Fit, and name the method and the trial in the error if the fit fails."""
    try:
        return model.fit(rows)
    except InputError as error:
        raise error.within(where) from error


@dataclass(frozen=True, eq=False)
class _CalibrationRows:
    """The validated calibration set.  Its shortlists are computed once for each width."""

    given: ScoreSet
    ids: IntArray
    groups: IntArray | None
    shortlists: dict[int, Shortlist]

    @classmethod
    def build(cls, calibration: ScoreSet, names: tuple[str, ...] | None, n_classes: int) -> _CalibrationRows:
        similarity = calibration.similarity
        checked = replace(
            calibration,
            class_names=names,
            # Converted here once, because otherwise every fit would convert it again.
            similarity=None if similarity is None else as_similarity(similarity, n_classes),
        )
        assert calibration.labels is not None  # checked by `_check_classes`
        ids, _ = check_labels(calibration.labels, len(calibration), n_classes, names)
        return cls(checked, ids, _group_codes(calibration, "calibration"), {})

    def rows(self, method: ShortlistReranker) -> ScoreSet:
        if method.uses_all_scores:  # it chooses its own shortlists
            return self.given
        n_candidates = method.n_candidates
        if n_candidates not in self.shortlists:
            self.shortlists[n_candidates] = self.given.given_shortlist(n_candidates)
        return replace(self.given, scores=self.shortlists[n_candidates])


@dataclass(frozen=True, eq=False)
class _TestRows:
    """The validated test set.  Its labels are used only here."""

    given: ScoreSet
    labels: IntArray
    groups: IntArray | None
    class_counts: FloatArray
    counts_from: str
    weighted: bool
    strata: str | None
    shortlists: dict[int, Shortlist]

    @classmethod
    def build(cls, test: ScoreSet, calibration_rows: _CalibrationRows, strata: str | None) -> _TestRows:
        names, n_classes = calibration_rows.given.class_names, _class_number(calibration_rows.given)
        assert test.labels is not None
        ids = label_ids(test.labels, len(test), n_classes, names)
        counts, counts_from = _counts(test, calibration_rows, n_classes)
        aligned = replace(test, class_names=names)
        codes = _group_codes(test, "test")
        weighted = test.equal_group_weight and codes is not None
        return cls(aligned, ids, codes, counts, counts_from, weighted, strata, {})

    def score(self, model: ShortlistReranker) -> tuple[Ranking, Evaluation]:
        if model.uses_all_scores:
            ranking = model.rerank(self.given.scores, embeddings=self.given.embeddings)
            return ranking, self._evaluated(ranking)
        width = model.n_candidates
        if width not in self.shortlists:
            self.shortlists[width] = self.given.given_shortlist(width)
        ranking = model.rerank(self.shortlists[width], embeddings=self.given.embeddings)
        return ranking, self._evaluated(ranking)

    def _evaluated(self, ranking: Ranking) -> Evaluation:
        groups = self.groups if self.weighted else None
        ids_only = replace(ranking, class_names=None)  # the labels are ids already
        return evaluate(ids_only, self.labels, self.class_counts, groups=groups, strata=self.strata, base=False)


def _warn_of_shared_rows(calibration: ScoreSet, test: ScoreSet) -> None:
    """Warn if test rows have the scores of calibration rows, beyond what chance gives."""
    width = min(SHARED_WIDTH, _class_number(calibration))
    _, shared = in_both(calibration.given_shortlist(width), test.given_shortlist(width))
    if shared:
        warn_user(
            f"{shared} of {len(test)} test rows have the scores of a calibration row, so figures may be optimistic; "
            "remove these rows from one of the sets",
            InputWarning,
        )


def _counts(test: ScoreSet, calibration_rows: _CalibrationRows, n_classes: int) -> tuple[FloatArray, str]:
    """Return the counts that define rare and frequent classes, and where they come from."""
    for rows, where in ((test, "test"), (calibration_rows.given, "calibration")):
        if rows.class_counts is not None:
            counts = class_vector(rows.class_counts, "class_counts", n_classes, calibration_rows.given.class_names)
            return counts, f"the training counts given with the {where} set"
    labels = calibration_rows.ids[calibration_rows.ids >= 0]
    return np.bincount(labels, minlength=n_classes).astype(np.float64), "the label counts of the calibration set"


def _check_methods(methods: Mapping[str, ShortlistReranker]) -> dict[str, ShortlistReranker]:
    if not isinstance(methods, Mapping):
        raise InputError(f"methods is {type(methods).__name__}; pass a mapping from a name to a reranker")
    if not methods:
        raise InputError("methods is empty; pass at least one method, such as {'Base': Base()}")
    for name, method in methods.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"methods has the key {name!r}; every key must be a name that is not empty")
        if not isinstance(method, ShortlistReranker):
            hint = "; pass an instance, such as Base()" if isinstance(method, type) else ""
            raise InputError(f"methods[{name!r}] is {method!r}, not a reranker such as Base() or Reranker(){hint}")
        check_count(method.n_candidates, f"n_candidates of methods[{name!r}]")
    return dict(methods)


def _check_classes(calibration: ScoreSet, test: ScoreSet) -> tuple[tuple[str, ...] | None, int]:
    """Return the class names, if any, and the number of classes.  Both sets must have the same classes."""
    for rows, where in ((calibration, "calibration"), (test, "test")):
        if not isinstance(rows, ScoreSet):
            raise InputError(f"{where} is {type(rows).__name__}; pass a ScoreSet(scores, labels)")
        if rows.labels is None:
            raise InputError(f"the {where} set has no labels; pass ScoreSet(scores, labels)")
    sizes = _class_number(calibration), _class_number(test)
    if sizes[0] != sizes[1]:
        raise InputError(
            f"calibration has {sizes[0]} classes, test {sizes[1]}; both need the same classes in the same order"
        )
    names, others = (
        column_names(rows.scores) if rows.class_names is None else check_class_names(rows.class_names, sizes[0])
        for rows in (calibration, test)
    )
    if names and others and names != others:  # class ids and counts would refer to different classes
        first = next(i for i in range(sizes[0]) if names[i] != others[i])
        raise InputError(
            f"class {first} is {names[first]!r} in calibration and {others[first]!r} in test; "
            "both need the same classes in the same order"
        )
    return names or others, sizes[0]


def _class_number(rows: ScoreSet) -> int:
    if isinstance(rows.scores, Shortlist):
        return rows.scores.n_classes
    shape = np.shape(rows.scores)
    if len(shape) != 2:
        raise InputError(
            f"scores has shape {shape}; expected two dimensions, one row per input and one column per class"
        )
    return int(shape[1])


def _group_codes(rows: ScoreSet, where: str) -> IntArray | None:
    return None if rows.groups is None else check_group_codes(rows.groups, f"groups of the {where} set", len(rows))


def _number_of(groups: IntArray | None) -> int | None:
    return None if groups is None else number_of_units(len(groups), groups)
