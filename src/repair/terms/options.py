"""Options of the extended mode that its terms use."""

from dataclasses import dataclass

from repair.validation.checks import check_choice, check_count, check_number

__all__ = ["INDICES", "ExtendedOptions"]

#: Ways to search for neighbours.
INDICES = ("exact", "approximate")


@dataclass(frozen=True)
class ExtendedOptions:
    """Options of ``mode="extended"``.  ``mode="auto"`` passes them on to the extended mode.

    Parameters
    ----------
    shortlist_tau : float, optional
        Exponent τ used to build the shortlist, which holds the best classes by g − τ·log(n+1).  By
        default it is the τ that puts the most labels of the calibration rows on the shortlist.
        Pass 0 to keep the classifier's own shortlist.
    n_ranked : int, optional
        Number of classes per row that are ranked before the best `n_candidates` of them are returned.
        By default the calibration rows decide, if the scores of all classes are known: more than
        `n_candidates` and up to 100 classes are ranked if shorter lists miss labels that rows with
        similar scores or embeddings name.  With embeddings and at most 100 classes or
        fewer than 5,000 rows, as many of the 100 as there are are ranked.
        Pass `n_candidates` to rerank faster, and more if you know that the classifier often puts the
        right class far down.
    neighbour_index : {"exact", "approximate"}, default "exact"
        How neighbours are searched if there are embeddings.  "exact" compares each row with every
        labelled row.  "approximate" looks it up in an index and needs the extra ``neighbours``.
        Use it for millions of labelled rows.
    fast : bool, default False
        Whether to learn only the terms ``context``, ``neighbours`` and ``head``, with fewer landmarks.
        The fit is then several times faster and the model smaller, and usually a little less accurate.

    Examples
    --------
    >>> from repair import ExtendedOptions, Reranker
    >>> reranker = Reranker("extended", extended=ExtendedOptions(shortlist_tau=0.0))
    >>> reranker.extended.shortlist_tau
    0.0
    """

    shortlist_tau: float | None = None
    n_ranked: int | None = None
    neighbour_index: str = "exact"
    fast: bool = False

    def __post_init__(self) -> None:
        if self.shortlist_tau is not None:
            check_number(self.shortlist_tau, "shortlist_tau", 0.0, 10.0)
        if self.n_ranked is not None:
            check_count(self.n_ranked, "n_ranked")
        check_choice(self.neighbour_index, "neighbour_index", INDICES)
        check_choice(self.fast, "fast", (True, False))
