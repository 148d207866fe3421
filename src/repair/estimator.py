"""What every reranker can do once it is fitted: the interface that methods and baselines share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, FloatArray, row_sums
from repair.calibration import CalibrationSet
from repair.class_table import ClassTable
from repair.decision import Decision
from repair.errors import InputError, NotFittedError
from repair.explanation import Explanation, explain_row
from repair.fitted_attributes import FittedAttributes
from repair.fitted_state import FittedState
from repair.inputs import as_array, check_count
from repair.named import align_columns
from repair.ranking import Ranking
from repair.shortlist import Shortlist

__all__ = ["ShortlistReranker"]


class ShortlistReranker(FittedAttributes):
    """Base of all rerankers: ``fit``, ``rerank``, ``predict``, ``predict_proba``, ``explain``, ``save``.

    A subclass says in ``_learn`` what it learns from a calibration set, and lists in
    ``parameters`` the arguments of its constructor.
    """

    parameters: ClassVar[tuple[str, ...]] = ("n_candidates",)
    n_candidates: int
    dial: float = 0.0
    group_weights: bool = True
    _state: FittedState | None = None

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        raise TypeError(f"{type(self).__name__} does not say what it learns")

    @property
    def mode_name(self) -> str:
        """What `mode_` is after a fit with the present parameters."""
        raise TypeError(f"{type(self).__name__} does not say what it fits")

    @property
    def uses_all_scores(self) -> bool:
        """Whether the shortlist may be chosen otherwise than by the base's scores, if all are given."""
        return False

    def _check_parameters(self, table: ClassTable) -> None:
        """Refuse constructor arguments that cannot work with these classes; extended by subclasses."""
        check_count(self.n_candidates, "n_candidates")

    def fit(
        self,
        scores: ArrayLike | Shortlist,
        labels: ArrayLike,
        *,
        class_counts: ArrayLike | None = None,
        similarity: Any = None,
        groups: Any = None,
        class_names: Any = None,
        class_weights: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_groups: Any = None,
        weight_norms: ArrayLike | None = None,
        embeddings: ArrayLike | None = None,
        reference_embeddings: ArrayLike | None = None,
        reference_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the correction from labelled calibration rows.

        Parameters
        ----------
        scores : array_like (n, K) or Shortlist
            The frozen classifier's scores g: logits, or log-probabilities (not probabilities).  A
            data frame with named columns is matched by name.  A `Shortlist` is used as it is; from an array the
            best `n_candidates` of each row are taken.
        labels : array_like (n,)
            True class ids, or names (text) if `class_names` is given.  −1, or a name the class
            table does not have, is an uncovered row: counted, and not fitted on.
        class_counts : array_like (K,), mapping or Series, optional
            Training examples per class, n.  A mapping or Series is matched by class id or name;
            so are all other class tables.
        similarity : array_like (K, K), scipy sparse (K, K), or callable, optional
            How confusable classes are; a callable maps two id arrays to one number per pair.
        groups : array_like (n,), optional
            Rows that share a patient, document or session.  Each row then weighs 1/(group size).
        class_names : sequence of str, optional
            One distinct name per class, in score-column order; by default the column names of
            `scores`, if it is a data frame that has them.
        class_weights : array_like (K,), optional
            Weight of each class's rows in the fit.
        sample_weight : array_like (n,), optional
            Weight of each row in the fit.
        class_groups : array_like (K,), optional
            Groups towards whose mean the offsets are shrunk, such as parents in a taxonomy.
        weight_norms : array_like (K,), optional
            Norms of the classifier's weight rows; only `TauNormalization` uses them.
        embeddings : array_like (n, d), optional
            One vector for each row, such as the classifier's last layer or a sentence embedding;
            only ``mode="extended"`` and ``"auto"`` use them, and ``rerank`` then needs them too.
        reference_embeddings, reference_labels : array_like (m, d) and (m,), optional
            Further labelled rows to look for neighbours among, usually the training set; none of
            them may belong to a group of the calibration rows.

        Returns
        -------
        self
        """
        calibration = CalibrationSet.build(
            scores,
            labels,
            self.n_candidates,
            class_counts=class_counts,
            similarity=similarity,
            groups=groups,
            class_names=class_names,
            class_weights=class_weights,
            sample_weight=sample_weight,
            class_groups=class_groups,
            weight_norms=weight_norms,
            embeddings=embeddings,
            reference_embeddings=reference_embeddings,
            reference_labels=reference_labels,
            group_weights=self.group_weights,
        )
        return self.fit_checked(calibration)

    def fit_checked(self, calibration: CalibrationSet) -> Self:
        """Do as `fit`, for a calibration set that has been checked."""
        self._check_parameters(calibration.table)
        self._state = self._learn(calibration)
        return self

    def rerank(
        self,
        scores: ArrayLike | Shortlist,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> Ranking:
        """Correct the scores of each row's shortlist and rank it.

        Parameters
        ----------
        scores : array_like (n, K), (K,), or Shortlist
            Base scores of new rows.
        embeddings : array_like (n, d) or (d,), optional
            Of the rows, if the model was fitted with embeddings.
        dial : float, optional
            Head–tail trade-off t; the model's own `dial` if not given.  0 aims at accuracy, 1
            weighs all classes alike.  Needs `class_counts` at fit time.
        target_prior : array_like (K,), optional
            Class mix of the traffic, if it differs from the calibration set's.
        class_costs : array_like (K,), optional
            Relative cost of missing each class.

        Returns
        -------
        Ranking
        """
        state = self._fitted()
        shortlist = self._shortlist(scores, embeddings)
        decision = self._decision(dial, target_prior, class_costs)
        ranking = Ranking.from_scorer(shortlist, lambda rows: state.correction.scores_of(rows, decision))
        names = state.correction.table.class_names
        return ranking if names is None else replace(ranking, class_names=names)

    def predict(
        self,
        scores: ArrayLike | Shortlist,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> AnyArray:
        """Return the first class of each row after reranking.

        Ids, or names if the labels given to ``fit`` were names; −1 or '' for a row without
        candidates.  Takes the same keywords as `rerank`.
        """
        wishes = {"dial": dial, "target_prior": target_prior, "class_costs": class_costs}
        best = self.rerank(scores, embeddings=embeddings, **wishes).best  # type: ignore[arg-type]
        if not self._fitted().labels_are_names:
            return best.astype(np.int64)
        return self._fitted().names[best]

    def predict_proba(
        self,
        scores: ArrayLike | Shortlist,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> FloatArray:
        """Return q(y | x, S) for each candidate, aligned with ``rerank(scores).ids``.

        These are probabilities given that the true class is on the shortlist; each row adds up to
        1 and padding has 0.  `dial` and `class_costs` express wishes, not beliefs: they set the
        order of the columns, as in `rerank`, but not the numbers; so does the strength that
        `max_head_loss` chose.  `target_prior` sets both.
        """
        state = self._fitted()
        shortlist = self._shortlist(scores, embeddings)
        wanted = self._decision(dial, target_prior, class_costs)
        order = Ranking.from_corrected(shortlist, state.correction.scores(shortlist, wanted)).order
        # A strength below 1 is caution about the order; what is believed stays what was fitted.
        beliefs = replace(state.correction, strength=1.0).scores(shortlist, wanted.probabilities_only())
        return softmax(np.take_along_axis(beliefs, order, axis=1))

    def explain(
        self,
        scores: ArrayLike | Shortlist,
        *,
        embeddings: ArrayLike | None = None,
        dial: float | None = None,
        target_prior: ArrayLike | None = None,
        class_costs: ArrayLike | None = None,
    ) -> Explanation:
        """Explain one row: every contribution to every candidate's score, and who overtook whom.

        Takes the same keywords as `rerank`.
        """
        state = self._fitted()
        shortlist = self._shortlist(scores, embeddings)
        if len(shortlist) != 1:
            raise InputError(f"explain takes one row, but got {len(shortlist)}; pass scores[i] or shortlist.take([i])")
        wanted = self._decision(dial, target_prior, class_costs)
        return explain_row(state.correction, shortlist, wanted)

    def clone(self, **changes: Any) -> Self:
        """Return an unfitted copy with the same parameters, except for `changes`."""
        return type(self)(**{**{name: getattr(self, name) for name in self.parameters}, **changes})

    def frozen(self) -> Self:
        """Return an unfitted copy in which what ``fit`` chose (such as a tuned τ) is fixed.

        Fitting it again, on a subsample say, estimates offsets and weights anew but chooses no
        hyperparameter again.
        """
        return self.clone(**self._fitted().account.chosen)

    def extended(
        self,
        new_names: Sequence[str],
        class_groups: Mapping[str, Any] | None = None,
        class_counts: Mapping[str, float] | None = None,
    ) -> Self:
        """Return a copy that also knows classes which came after the fit, as if nothing were known of them.

        They get the ids after the last known one; `repair.extension.extend_state` says what they
        get besides.  `class_groups` maps known and new names to groups, `class_counts` new names to
        training counts.
        """
        from repair.extension import extend_state

        other = copy(self)
        other._state = extend_state(self._fitted(), new_names, class_groups, class_counts)
        return other

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one ``.safetensors`` file, whole or not at all."""
        from repair.artifact import save_model

        save_model(self, path)

    def __repr__(self) -> str:
        """Return the constructor call, without the defaults."""
        defaults = {name: one.default for name, one in signature(type(self)).parameters.items()}
        current = {name: getattr(self, name) for name in self.parameters}
        changed = [f"{name}={value!r}" for name, value in current.items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _fitted(self) -> FittedState:
        if self._state is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self._state

    def _shortlist(self, scores: ArrayLike | Shortlist, embeddings: ArrayLike | None = None) -> Shortlist:
        state = self._fitted()
        table = state.correction.table
        aligned = align_columns(scores, table.class_names)
        dense: AnyArray | None = None
        if isinstance(aligned, Shortlist):
            shortlist = aligned
        else:
            dense = as_array(aligned, "scores")
            shortlist = Shortlist.from_scores(dense, state.n_candidates, adjustment=self._adjustment(dense))
        known = table.n_classes
        if shortlist.n_classes != known:
            raise InputError(f"scores are over {shortlist.n_classes} classes, but the model was fitted for {known}")
        profiled = state.correction.profiled(shortlist, None if dense is None else np.atleast_2d(dense))
        return self._with_vectors(profiled, embeddings)

    def lists_of(self, rows: CalibrationSet) -> Shortlist:
        """Return the shortlists that this model takes of checked rows: its own, where all scores are known."""
        state, chosen = self._fitted(), rows.shortlist
        if state.list_adjustment is not None and rows.all_scores is not None:
            own = Shortlist.from_scores(rows.all_scores, chosen.n_candidates, adjustment=state.list_adjustment)
            chosen = own.with_embeddings(chosen.embeddings)
        return state.correction.profiled(chosen, rows.all_scores)

    def _adjustment(self, scores: AnyArray) -> FloatArray | None:
        """Return by what the shortlist is chosen, if the scores are over the right classes."""
        adjustment = self._fitted().list_adjustment
        return adjustment if adjustment is not None and scores.shape[-1:] == adjustment.shape else None

    def _with_vectors(self, shortlist: Shortlist, embeddings: ArrayLike | None) -> Shortlist:
        """Attach the rows' vectors, if the model looks at any."""
        width = self._fitted().correction.embedding_width
        if width is None:
            return shortlist
        if embeddings is None:
            own = shortlist.embeddings
            if own is None:
                raise InputError(f"this model looks at embeddings of {width} numbers a row; pass embeddings=…")
            # They have been brought to length 1 already; doing it again would change their last bits.
            return shortlist if own.shape[1] == width else shortlist.with_embeddings(own, width)
        given = as_array(embeddings, "embeddings")
        return shortlist.with_embeddings(given[None] if given.ndim == 1 else given, width)

    def _decision(self, dial: float | None, target_prior: ArrayLike | None, class_costs: ArrayLike | None) -> Decision:
        state = self._fitted()
        return Decision.build(
            self._own_dial() if dial is None else dial,
            target_prior,
            class_costs,
            state.label_shares,
            state.correction.table.class_names,
        )

    def _own_dial(self) -> float:
        """Return the dial that the fit chose, or else the constructor's."""
        chosen = self._fitted().account.chosen.get("dial", self.dial)
        return chosen if isinstance(chosen, float | int) else self.dial


def softmax(scores: FloatArray) -> FloatArray:
    """Return each row's softmax; −Inf gives 0, and a row of nothing but −Inf gives zeros."""
    best = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - np.where(best == -np.inf, 0.0, best))
    mass = row_sums(shares)[:, None]
    return shares / np.where(mass == 0.0, 1.0, mass)
