"""The interface that all rerankers share: fit, rerank, predict, explain and save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from inspect import signature
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray
from repair._utils.json import plain
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.data.ranking import Ranking
from repair.data.score_set import ScoreSet, as_score_set
from repair.data.shortlist import Shortlist
from repair.errors import ArtifactError, InputError, NotFittedError, Remedy
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.explanation import Explanation, explain_row
from repair.model.fingerprint import Fingerprint
from repair.model.state import FittedState
from repair.persistence.model_file import ModelFile, write_model
from repair.rerankers.beliefs import Beliefs
from repair.rerankers.one_row import OneRowReranking
from repair.validation.checks import as_array, check_count
from repair.validation.names import align_columns
from repair.validation.row_index import align_rows

__all__ = ["Scores", "ShortlistReranker"]

#: What `fit` and `rerank` take.
Scores: TypeAlias = "ArrayLike | Shortlist | ScoreSet"


class ShortlistReranker(OneRowReranking):
    """Base class of all rerankers: ``fit``, ``rerank``, ``predict``, ``predict_proba``, ``explain``, ``save``.

    A subclass implements ``learn``, which fits on a calibration set.  Its parameters are the arguments
    of its constructor, stored under the same names.
    """

    n_candidates: int
    #: Decision-time settings, which take effect as soon as they are set.  None means the value that the fit chose, or
    #: else 0 for the dial and 1 for the strength.
    dial: float | str | None = None
    strength: float | None = None
    _state: FittedState | None = None

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Fit on a validated calibration set and return the fitted state.  Every method implements this."""
        raise TypeError(f"{type(self).__name__} does not implement learn()")

    def check_parameters(self, table: ClassTable) -> None:
        """Raise an error if the constructor's arguments are invalid or do not suit these classes."""
        check_count(self.n_candidates, "n_candidates")

    def can_fit(self, mode: str) -> bool:
        """Return whether a fit with the current parameters can result in a model of this mode."""
        raise TypeError(f"{type(self).__name__} does not implement can_fit()")

    @property
    def uses_all_scores(self) -> bool:
        """Whether a fit may choose shortlists other than the classifier's own, if all scores are known."""
        return False

    def fit(
        self, scores: Scores, labels: ArrayLike | None = None, *, progress: bool = False,
        **fields: Any,
    ) -> Self:  # fmt: skip
        """Learn the correction from labelled calibration rows.

        Parameters
        ----------
        scores : array_like (n, K), Shortlist, or ScoreSet
            The frozen classifier's scores: logits, log-probabilities or the output of ``predict_proba``
            (see ``score_type``).  The best `n_candidates` classes of each row form its shortlist.  A
            `ScoreSet` contains labels and all other inputs, so pass nothing else with it.
        labels : array_like (n,)
            True class ids, or class names if the class names are known.
        progress : bool, default False
            Whether to show a progress bar during long steps (needs the extra ``cli``).
        **fields
            Any other information about rows and classes, by the names of the fields of `ScoreSet`:
            ``class_counts``, ``similarity``, ``groups``, ``class_names``, ``class_groups``,
            ``class_weights``, ``weight_norms``, ``sample_weight``, ``embeddings``,
            ``reference_embeddings``, ``reference_labels``, ``equal_group_weight``, ``score_type``.

        Returns
        -------
        self
        """
        rows = as_score_set(scores, labels, fields)
        return self.fit_checked(CalibrationSet.build(rows, self.n_candidates), progress=progress)

    def fit_checked(self, calibration: CalibrationSet, *, progress: bool = False) -> Self:
        """Fit on an already validated calibration set."""
        state = self.learn(calibration, progress=progress)
        self._state = replace(state, fingerprint=Fingerprint.of(calibration), scale=calibration.scale)
        return self

    @property
    def state(self) -> FittedState:
        """The complete fitted state.  Before ``fit``, this raises `NotFittedError`."""
        if self._state is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._state

    @property
    def is_fitted(self) -> bool:
        """Whether ``fit`` has been called."""
        return self._state is not None

    def with_state(self, state: FittedState) -> Self:
        """Return a copy of this reranker with another fitted state."""
        other = copy(self)
        other._state = state
        return other

    def rerank(
        self,
        scores: Scores,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | str | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> Ranking:
        """Correct the scores of each row's shortlist and rank it.

        Parameters
        ----------
        scores : array_like (n, K), (K,), Shortlist, or ScoreSet
            Base scores of new rows, of the type and on the scale that the model was fitted on.  A warning
            or an error says so if they are clearly not.  A model that was fitted on probabilities expects
            probabilities, and converts them as in the fit.
        embeddings : array_like (n, d) or (d,), optional
            One vector per row.  Needed if the model was fitted with embeddings, ignored otherwise.
        dial : float or "macro", optional
            Head–tail trade-off t.  0 aims at accuracy, and 1 gives all classes the same weight.  The
            default is the model's dial (``dial_``).  The model needs class counts from ``fit``.
            ``"macro"`` aims at accuracy averaged over classes.
        target_prior : array_like (K,), optional
            Class mix of the rows you will rerank.  Pass it if it differs from that of the calibration set.
        class_costs : array_like (K,), optional
            Relative cost of missing each class.  By default all classes cost the same.

        Returns
        -------
        Ranking
            Ids, scores and probabilities of the candidates, best first.
        """
        shortlist = self.shortlist(scores, embeddings)
        if self.state.fingerprint is not None:
            self.state.fingerprint.warn_of_other_scores(shortlist)
        ranking = self._ranked(shortlist, self._adjustments(dial, target_prior, class_costs))
        return ranking.first(self.state.n_candidates) if self.state.cuts else ranking

    def whole_ranking(self, shortlist: Shortlist, *, dial: float | str | None = None) -> Ranking:
        """Return the ranking of all candidates, also of those that `rerank` leaves out (see ``ExtendedOptions``).

        `shortlist` must come from this model's own `shortlist` or `shortlists_for`.
        """
        return self._ranked(shortlist, self._adjustments(dial, None, None))

    def _ranked(self, shortlist: Shortlist, adjustments: Adjustments) -> Ranking:
        correction = self._correction()
        names, counts = correction.table.class_names, self.state.class_counts
        ranking = Ranking.from_scorer(shortlist, lambda rows: correction.scores_of(rows, adjustments), names, counts)
        if (fingerprint := self.state.fingerprint) is not None:
            ranking = replace(ranking, fitted_rows_problem=partial(fingerprint.shared_rows_problem, shortlist))
        if correction.strength != 1.0 or not adjustments.beliefs_only:
            ranking = replace(ranking, beliefs=Beliefs(correction, shortlist, adjustments, ranking.order))
        return ranking

    def predict(
        self,
        scores: Scores,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | str | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> AnyArray:
        """Return the first class of each row after reranking.

        These are class ids, or class names if the labels passed to ``fit`` were names.  A row without
        candidates gets −1 or ''.  The keywords are those of `rerank`.
        """
        best = self.rerank(
            scores, embeddings=embeddings, dial=dial, target_prior=target_prior, class_costs=class_costs
        ).best
        if not self.state.labels_are_names:
            return best.astype(np.int64)
        names = self.state.names[best]
        return names.astype(bool) if names.dtype == object and (best >= 0).all() else names

    def predict_proba(
        self,
        scores: Scores,
        *,
        embeddings: ArrayLike | None = None,
        target_prior: ArrayLike | None = None,
    ) -> FloatArray:
        """Return one probability per row and class, shape (n, K), as in scikit-learn.

        The columns are in the order of ``classes_``, and classes off the shortlist have 0.  These are
        probabilities given that the true class is on the shortlist, so each row sums to 1.
        ``rerank(scores).probabilities`` has the same numbers for the candidates only.  Use it if there
        are very many classes.
        """
        # Without a dial, because that could change which candidates are returned.
        ranking = self.rerank(scores, embeddings=embeddings, target_prior=target_prior, dial=0.0)
        dense = np.zeros((len(ranking), ranking.n_classes))
        rows, columns = np.nonzero(ranking.ids >= 0)
        dense[rows, ranking.ids[rows, columns]] = ranking.probabilities[rows, columns]
        return dense

    def explain(
        self,
        scores: Scores,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | str | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> Explanation:
        """Explain one row: every contribution to every candidate's score, and which classes it overtook.

        The keywords are those of `rerank`.
        """
        shortlist = self.shortlist(scores, embeddings)
        if len(shortlist) != 1:
            raise InputError(f"explain takes one row, but got {len(shortlist)}; pass scores[i] or shortlist.take([i])")
        explanation = explain_row(self._correction(), shortlist, self._adjustments(dial, target_prior, class_costs))
        return explanation.first(self.state.n_candidates) if self.state.cuts else explanation

    def final_scores(self, shortlist: Shortlist, *, dial: float | str | None = None) -> FloatArray:
        """Return every candidate's final score in base order, aligned with ``shortlist.ids``, −Inf on padding.

        `shortlist` must come from this model's own `shortlist` or `shortlists_for`.
        """
        return self._correction().scores(shortlist, self._adjustments(dial, None, None))

    def shortlist(self, scores: Scores, embeddings: ArrayLike | None = None) -> Shortlist:
        """Return the shortlists that this model ranks for new rows, with the row vectors that its terms need.

        They can have more than `n_candidates` candidates (see ``ExtendedOptions.n_ranked``).
        """
        state = self.state
        table = state.correction.table
        if isinstance(scores, ScoreSet):
            embeddings = scores.embeddings if embeddings is None else embeddings
        else:
            embeddings = align_rows({"scores": scores, "embeddings": embeddings}).get("embeddings", embeddings)
        given = self.log_scores(scores)
        dense: AnyArray | None = None
        if isinstance(given, Shortlist):
            shortlist = given.first(max(state.width, self.n_candidates))
        else:
            dense = given
            adjustment = state.list_adjustment
            if adjustment is not None and dense.shape[-1:] != adjustment.shape:
                adjustment = None  # the number of classes is wrong, which raises an error below
            shortlist = Shortlist.from_scores(dense, state.width, adjustment=adjustment)
            if state.scale.converts:
                shortlist = shortlist.as_converted()
        if shortlist.n_classes != table.n_classes:
            raise InputError(
                f"scores are over {shortlist.n_classes} classes, but the model was fitted for {table.n_classes}; "
                "pass scores of the same classes"
            )
        prepared = state.correction.prepared(shortlist, None if dense is None else np.atleast_2d(dense))
        return self._with_vectors(prepared, embeddings)

    def log_scores(self, scores: Scores) -> AnyArray | Shortlist:
        """Return scores with the classes in the model's order, converted as the calibration scores were."""
        state = self.state
        names = state.correction.table.class_names
        if isinstance(scores, ScoreSet):
            converted: AnyArray | Shortlist = scores.on_log_scale(state.scale, names).scores  # type: ignore[assignment]
            return converted
        aligned = align_columns(scores, names)
        given = aligned if isinstance(aligned, Shortlist) else as_array(aligned, "scores")
        return state.scale.apply(given) if state.scale.converts else given

    def shortlists_for(self, rows: CalibrationSet) -> Shortlist:
        """Return the shortlists that this model uses for validated rows: its own choice if all scores are known."""
        state, chosen = self.state, rows.shortlist
        width = max(chosen.n_candidates, state.n_ranked)
        if rows.all_scores is not None and (state.list_adjustment is not None or width > chosen.n_candidates):
            own = Shortlist.from_scores(rows.all_scores, width, adjustment=state.list_adjustment)
            chosen = own.with_embeddings(chosen.embeddings).as_converted()
        return state.correction.prepared(chosen, rows.all_scores)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments by name, as in scikit-learn.  `deep` has no effect."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **changes: Any) -> Self:
        """Change parameters by name, as in scikit-learn.

        ``dial`` and ``strength`` take effect immediately, and all others at the next ``fit``.
        """
        allowed = signature(type(self)).parameters
        for name, value in changes.items():
            if name not in allowed:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; choose one of {', '.join(allowed)}")
            setattr(self, name, value)
        return self

    def clone(self, **changes: Any) -> Self:
        """Return an unfitted copy with the same parameters, except for `changes`."""
        return type(self)(**{**self.get_params(), **changes})

    def with_chosen_parameters(self, choice: Choice | None = None) -> Self:
        """Return an unfitted copy whose parameters are the values that ``fit`` chose, such as a tuned τ.

        Fitting the copy, for example on a subsample, estimates offsets and weights again but does not
        choose hyperparameters.  Pass `choice` to use another choice than this model's.
        """
        return type(self)(**self._parameters_with(self.state.choice if choice is None else choice))

    def _parameters_with(self, choice: Choice) -> dict[str, Any]:
        return {**self.get_params(), **choice.to_dict()}

    def with_classes(
        self,
        new_names: Sequence[str],
        class_groups: Mapping[str, Any] | None = None,
        class_counts: Mapping[str, float] | None = None,
    ) -> Self:
        """Return a copy of the fitted model with additional classes, which get neutral values.

        Parameters
        ----------
        new_names : sequence of str
            Names of the new classes.  Their ids follow the last known one.
        class_groups : mapping from class name to group, optional
            Groups of known and new classes.  A new class gets the mean offset of its group.  By
            default all classes belong to one group.
        class_counts : mapping from class name to training count, optional
            Training counts of new classes.  By default the geometric mean of the group.
        """
        from repair.model.new_classes import add_classes

        return self.with_state(add_classes(self.state, new_names, class_groups, class_counts))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one ``.safetensors`` file, completely or not at all."""
        name, state = type(self).__name__, self.state
        if not type(self).__module__.startswith("repair."):
            raise ArtifactError(f"{name} is not one of this library's methods; only those can be saved")
        try:
            self.check_parameters(state.correction.table)
            parameters = plain(self.get_params(), strict=True)
        except (TypeError, InputError) as error:
            raise ArtifactError(f"this {name} cannot be saved: {error}") from None
        write_model(path, ModelFile(name, parameters, state))

    def __repr__(self) -> str:
        """Return the constructor call, without arguments that have their default value."""
        defaults = {name: parameter.default for name, parameter in signature(type(self)).parameters.items()}
        current = self.get_params()
        changed = [f"{name}={value!r}" for name, value in current.items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _with_vectors(self, shortlist: Shortlist, embeddings: ArrayLike | None) -> Shortlist:
        """Add the embeddings of the rows, if the model uses embeddings."""
        width = self.state.correction.embedding_width
        if width is None:
            return shortlist
        if embeddings is None:
            attached = shortlist.embeddings
            if attached is None:
                remedy = Remedy("pass-embeddings", "pass embeddings=…")
                raise InputError(f"this model reads embeddings of {width} numbers per row", remedy)
            # They already have length 1.  Scaling them again would change their last bits.
            return shortlist if attached.shape[1] == width else shortlist.with_embeddings(attached, width)
        given = as_array(embeddings, "embeddings")
        return shortlist.with_embeddings(given[None] if given.ndim == 1 else given, width)

    def _correction(self) -> Correction:
        """Return the correction with the strength that is in effect."""
        correction = self.state.correction
        return correction if self.strength is None else replace(correction, strength=self.strength_)

    def _adjustments(
        self, dial: float | str | None, target_prior: ArrayLike | None, class_costs: ArrayLike | None
    ) -> Adjustments:
        return self.state.adjustments(self.dial_ if dial is None else dial, target_prior, class_costs)
