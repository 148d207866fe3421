"""What a correction may depend on: one small file a family, chosen by name.

A term turns candidates into one column, and declares the inputs it needs.  The model is linear in
its columns, so that the fit stays convex whatever terms are chosen.
"""

from collections.abc import Sequence

from repair.class_table import ClassTable
from repair.errors import InputError
from repair.terms.base import Term, add_term, stack_columns
from repair.terms.competition import LogFrequencyRatio, RankGap, ScoreGap
from repair.terms.scale import Score
from repair.terms.similarity import MeanSimilarity

__all__ = ["LEARNED_TERMS", "PAPER_TERMS", "Score", "Term", "add_term", "choose_terms", "stack_columns", "term_named"]

#: The paper's pairwise features, in the order of its table.
PAPER_TERMS = ("score_gap", "rank_gap", "log_prob_ratio", "similarity", "log_freq_ratio")

#: Terms that learn from the labelled rows before the fit; ``mode="extended"`` has them.
LEARNED_TERMS = ("context", "neighbours", "head")

_REGISTRY: dict[str, Term] = {
    term.name: term
    for term in (
        ScoreGap(),
        ScoreGap(name="log_prob_ratio"),
        RankGap(),
        MeanSimilarity(),
        LogFrequencyRatio(),
    )
}


def term_named(name: str) -> Term:
    """Return the term called `name`, or refuse and list the names there are."""
    if not isinstance(name, str) or name not in _REGISTRY:
        raise InputError(f"there is no term {name!r}; choose from {', '.join(PAPER_TERMS)}")
    return _REGISTRY[name]


def choose_terms(names: Sequence[str] | None, table: ClassTable) -> tuple[Term, ...]:
    """Return the named terms, or all of the paper's that the inputs allow.

    The score gap and the log-probability ratio are the same column when the probabilities are a
    softmax of the same scores.  Two equal columns with penalty λ each are one with λ/2, so both
    together become one term that says it stands for two.
    """
    if names is None:
        chosen = [term_named(name) for name in PAPER_TERMS if _allowed(term_named(name), table)]
    else:
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise InputError(f"terms is {names!r}; pass a sequence of names such as ('score_gap', 'rank_gap')")
        chosen = [term_named(name) for name in names]
        if len(set(names)) != len(names):
            raise InputError(f"terms repeats a name: {list(names)}; list each once")
        for term in chosen:
            for argument in term.requires:
                table.require(argument, f"the term {term.name!r}")
    gaps = [term for term in chosen if isinstance(term, ScoreGap)]
    if len(gaps) == 2:
        merged = ScoreGap(copies=2)
        chosen = [merged if term is gaps[0] else term for term in chosen if term is not gaps[1]]
    return tuple(chosen)


def _allowed(term: Term, table: ClassTable) -> bool:
    return all(getattr(table, argument) is not None for argument in term.requires)
