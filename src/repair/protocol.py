"""One honest comparison of several methods: the paper's trials, with intervals and tests beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.calibration import describe_unknown
from repair.comparison import Comparison, Setup
from repair.comparison_metrics import METRICS, metric_values, resample_metrics
from repair.errors import InputError, InputWarning, warn_user
from repair.estimator import ShortlistReranker
from repair.evaluation import Evaluation, evaluate
from repair.folds import subsample as draw_rows
from repair.inputs import (
    check_choice,
    check_class_names,
    check_class_vector,
    check_count,
    check_group_codes,
    check_labels,
    check_number,
)
from repair.named import align_to_classes, column_names
from repair.ranking import Ranking
from repair.score_set import ScoreSet
from repair.shortlist import Shortlist
from repair.similarity import as_similarity

__all__ = ["compare"]

SELECTIONS = ("once", "anew")

Progress = Callable[[int, int, str], object]


def compare(
    methods: Mapping[str, ShortlistReranker],
    calibration: ScoreSet,
    test: ScoreSet,
    *,
    trials: int = 5,
    subsample: float = 0.8,
    reference: str | None = None,
    selection: str = "once",
    group_weights: bool = True,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare methods by the paper's protocol.

    Each trial fits every method on its own subsample of the calibration set, the same for all
    methods, and scores it on the same test rows.  One more fit on all calibration rows gives the
    *full* models: bootstrap intervals, differences and per-row outputs are theirs.  No fit sees
    the test set.

    Parameters
    ----------
    methods : mapping from str to reranker
        What to call each method, and the method.  They are copied, never fitted or changed.
    calibration, test : ScoreSet
        Rare and frequent classes are told apart by the class counts of `test`, else of
        `calibration`, else by the calibration labels; the tables say which.
    trials : int, default 5
    subsample : float in (0, 1], default 0.8
        Share of the calibration rows in each trial; of the groups, where `calibration` has groups.
    reference : str, optional
        The method to compare the others with; by default the first.
    selection : {"once", "anew"}, default "once"
        Whether hyperparameters that a method chooses itself are chosen once on all calibration
        rows and then kept, as in the paper, or anew in each trial.  The spread over trials leaves
        out the uncertainty of the choice if it is made once.
    group_weights : bool, default True
        Whether every group of test rows counts once, each row 1/(group size), where `test` has
        groups.  Without groups, or if switched off, every row counts 1.
    resamples : int, default 10000
        Bootstrap resamples of the test rows; of whole groups, where `test` has groups.  All
        methods and metrics share them.
    level : float in (0, 1), default 0.95
        Of the intervals, by percentiles.
    seed : int, default 0
    progress : callable, optional
        Called as ``progress(done, total, label)`` after each fit.

    Returns
    -------
    Comparison
        Prints as tables; ``write(folder)`` writes them as Markdown, LaTeX, CSV and JSON.

    Notes
    -----
    Trials overlap and share one test set, so their spread, and a sign test over them, speak of
    the calibration sample only; the bootstrap speaks of the test sample only.  With five trials
    the sign test cannot go below 1/32, and after Holm's correction nothing is below 5 %: the
    paper's mark for four wins in five is not a test at 5 %.

    Holm's correction runs across metrics, for each pair of methods by itself.  Where all methods
    cover the same rows, gap closure and accuracy rank methods just as Hit@1 does, so they are no
    tests of their own and share its adjusted p-value.

    Macro has no interval: a bootstrap cannot see how classes with a row or two vary, and its
    intervals are too short.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> comparison = compare({"Base": Base(5), "REPAIR": Reranker(5)}, *sets, trials=3, resamples=200)
    >>> comparison
    Comparison(2 methods, 3 trials, 300 test rows)
    >>> comparison.std("Base", "hit@1"), comparison.signs("REPAIR", "Base")["hit@1"].wins
    (0.0, 3)
    """
    named = _check_methods(methods)
    first = next(iter(named)) if reference is None else reference
    if first not in named:
        raise InputError(f"reference is {first!r}; choose one of {', '.join(map(repr, named))}")
    check_count(trials, "trials")
    check_number(subsample, "subsample", 0.0, 1.0, open_low=True)
    check_choice(selection, "selection", SELECTIONS)
    check_choice(group_weights, "group_weights", (True, False))
    check_count(resamples, "resamples")
    if check_number(level, "level", 0.0, 1.0, open_low=True) == 1.0:
        raise InputError("level is 1; no interval short of everything is that sure, pass a number below 1")
    names, n_classes = _check_classes(calibration, test)
    learning = _Learning.build(calibration, names, n_classes)
    truth = _Truth.build(test, learning, group_weights=group_weights)
    # One stream for the bootstrap and one a trial; more trials leave the first ones as they were.
    seeds = np.random.SeedSequence(check_count(seed, "seed", low=0)).generate_state(trials + 1).tolist()
    setup = Setup(
        trials=int(trials),
        subsample=float(subsample),
        selection=selection,
        resamples=int(resamples),
        level=float(level),
        seed=int(seed),
        trial_seeds=tuple(seeds[1:]),
        bootstrap_seed=seeds[0],
        n_calibration=len(learning.ids),
        n_calibration_groups=_number_of(learning.groups),
        n_test=len(truth.labels),
        n_test_groups=_number_of(truth.groups),
        n_classes=n_classes,
        counts_from=truth.counts_from,
        group_weights=truth.weighted,
    )
    return _run(named, first, learning, truth, setup, progress)


def _run(
    methods: dict[str, ShortlistReranker],
    reference: str,
    learning: _Learning,
    truth: _Truth,
    setup: Setup,
    progress: Progress | None,
) -> Comparison:
    """Fit, score and resample."""
    models: dict[str, ShortlistReranker] = {}
    results: dict[str, Evaluation] = {}
    scored: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
    total = len(methods) * (1 + setup.trials)
    for done, (name, trial, model) in enumerate(_fits(methods, learning, setup), 1):
        ranking, result = truth.score(model)
        if trial == 0:
            models[name] = model
            results[name] = replace(result, rows={**result.rows, "best": ranking.best})
        else:
            scored[name].append(metric_values(result))
        if progress is not None:
            progress(done, total, f"{name}, trial {trial}" if trial else f"{name}, all rows")
    rows = {name: result.rows for name, result in results.items()}
    weights = next(iter(results.values())).weights
    return Comparison(
        methods=tuple(methods),
        reference=reference,
        setup=setup,
        trials={
            name: {metric: np.array([one[metric] for one in values]) for metric in METRICS}
            for name, values in scored.items()
        },
        full={name: metric_values(result) for name, result in results.items()},
        rows=rows,
        models=models,
        labels=truth.labels,
        draws=resample_metrics(list(rows.values()), weights, truth.groups, setup.resamples, setup.bootstrap_seed),
    )


def _fits(
    methods: dict[str, ShortlistReranker], learning: _Learning, setup: Setup
) -> Iterator[tuple[str, int, ShortlistReranker]]:
    """Yield (name, trial, fitted model), trial 0 being the fit on all rows.

    It is handed no test set: what is fitted cannot depend on it.
    """
    parts = [draw_rows(len(learning.ids), learning.groups, setup.subsample, one) for one in setup.trial_seeds]
    for name, method in methods.items():
        rows = learning.rows(method)
        full = _fit(method.clone(), rows, f"method {name!r}, all calibration rows")
        yield name, 0, full
        again = full.frozen() if setup.selection == "once" else method
        for trial, part in enumerate(parts, 1):
            yield name, trial, _fit(again.clone(), rows.take(part), f"method {name!r}, trial {trial}")


def _fit(model: ShortlistReranker, rows: ScoreSet, place: str) -> ShortlistReranker:
    """Fit, and if that fails say in which method and trial."""
    try:
        return model.fit(rows.scores, rows.labels, **rows.known)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


@dataclass(frozen=True, eq=False)
class _Learning:
    """The calibration set, checked, with its shortlists made once for each length."""

    given: ScoreSet
    ids: IntArray
    groups: IntArray | None
    shortlists: dict[int, Shortlist]

    @classmethod
    def build(cls, calibration: ScoreSet, names: tuple[str, ...] | None, n_classes: int) -> _Learning:
        similarity = calibration.similarity
        checked = replace(
            calibration,
            class_names=names,
            # Checked and copied here, or else again in every fit.
            similarity=None if similarity is None else as_similarity(similarity, n_classes),
        )
        ids, _ = check_labels(calibration.labels, len(calibration), n_classes, names)
        return cls(checked, ids, _group_codes(calibration, "calibration"), {})

    def rows(self, method: ShortlistReranker) -> ScoreSet:
        if method.uses_all_scores:  # it takes shortlists of its own
            return self.given
        n_candidates = method.n_candidates
        if n_candidates not in self.shortlists:
            self.shortlists[n_candidates] = self.given.shortlist(n_candidates)
        return replace(self.given, scores=self.shortlists[n_candidates])


@dataclass(frozen=True, eq=False)
class _Truth:
    """The test set, checked; the only place where its labels are used."""

    given: ScoreSet
    labels: IntArray
    groups: IntArray | None
    class_counts: FloatArray
    counts_from: str
    weighted: bool
    shortlists: dict[int, Shortlist]

    @classmethod
    def build(cls, test: ScoreSet, learning: _Learning, *, group_weights: bool) -> _Truth:
        names, n_classes = learning.given.class_names, _class_number(learning.given)
        ids, unknown = check_labels(test.labels, len(test), n_classes, names)
        if unknown:
            warn_user(describe_unknown(unknown), InputWarning)
        counts, counts_from = _counts(test, learning, n_classes)
        aligned = replace(test, class_names=names)
        codes = _group_codes(test, "test")
        return cls(aligned, ids, codes, counts, counts_from, group_weights and codes is not None, {})

    def score(self, model: ShortlistReranker) -> tuple[Ranking, Evaluation]:
        if model.uses_all_scores:
            ranking = model.rerank(self.given.scores, embeddings=self.given.embeddings)
            return ranking, self._evaluated(ranking)
        wanted = model.n_candidates
        if wanted not in self.shortlists:
            self.shortlists[wanted] = self.given.shortlist(wanted)
        ranking = model.rerank(self.shortlists[wanted], embeddings=self.given.embeddings)
        return ranking, self._evaluated(ranking)

    def _evaluated(self, ranking: Ranking) -> Evaluation:
        return evaluate(ranking, self.labels, self.class_counts, groups=self.groups if self.weighted else None)


def _counts(test: ScoreSet, learning: _Learning, n_classes: int) -> tuple[FloatArray, str]:
    """Return the counts that tell rare from frequent classes, and where they come from."""
    for one, where in ((test, "test"), (learning.given, "calibration")):
        if one.class_counts is not None:
            aligned = align_to_classes(one.class_counts, "class_counts", n_classes, learning.given.class_names)
            return check_class_vector(
                aligned, "class_counts", n_classes
            ), f"the training counts given with the {where} set"
    known = learning.ids[learning.ids >= 0]
    return np.bincount(known, minlength=n_classes).astype(np.float64), "the label counts of the calibration set"


def _check_methods(methods: Mapping[str, ShortlistReranker]) -> dict[str, ShortlistReranker]:
    if not isinstance(methods, Mapping):
        raise InputError(f"methods is {type(methods).__name__}; pass a mapping from a name to a reranker")
    if not methods:
        raise InputError("methods is empty; pass at least one, such as {'Base': Base()}")
    for name, method in methods.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"methods has the key {name!r}; call every method by a text that is not empty")
        if not isinstance(method, ShortlistReranker):
            hint = "; pass an instance, with brackets" if isinstance(method, type) else ""
            raise InputError(f"methods[{name!r}] is {method!r}, not a reranker such as Base() or Reranker(){hint}")
        check_count(method.n_candidates, f"n_candidates of methods[{name!r}]")
    return dict(methods)


def _check_classes(calibration: ScoreSet, test: ScoreSet) -> tuple[tuple[str, ...] | None, int]:
    """Return the class names, if any, and their number; refuse sets that do not speak of the same classes."""
    for one, where in ((calibration, "calibration"), (test, "test")):
        if not isinstance(one, ScoreSet):
            raise InputError(f"{where} is {type(one).__name__}; pass a ScoreSet(scores, labels)")
        if one.labels is None:
            raise InputError(f"the {where} set has no labels; a comparison needs them, pass ScoreSet(scores, labels)")
    sizes = _class_number(calibration), _class_number(test)
    if sizes[0] != sizes[1]:
        raise InputError(
            f"calibration has {sizes[0]} classes, test {sizes[1]}; score both over the same classes in the same order"
        )
    names, others = (
        column_names(one.scores) if one.class_names is None else check_class_names(one.class_names, sizes[0])
        for one in (calibration, test)
    )
    if names and others and names != others:  # ids and counts of one set would mean other classes in the other
        place = next(i for i in range(sizes[0]) if names[i] != others[i])
        raise InputError(
            f"class {place} is {names[place]!r} in calibration and {others[place]!r} in test; "
            "give both the same classes in the same order"
        )
    return names or others, sizes[0]


def _class_number(rows: ScoreSet) -> int:
    if isinstance(rows.scores, Shortlist):
        return rows.scores.n_classes
    shape = np.shape(rows.scores)
    if len(shape) != 2:
        raise InputError(f"scores has shape {shape}; expected one row of class scores for each input")
    return int(shape[1])


def _group_codes(rows: ScoreSet, where: str) -> IntArray | None:
    return None if rows.groups is None else check_group_codes(rows.groups, f"groups of the {where} set", len(rows))


def _number_of(groups: IntArray | None) -> int | None:
    return None if groups is None else int(groups.max()) + 1
