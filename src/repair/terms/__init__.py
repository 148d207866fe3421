"""Terms: what a correction can depend on.  There is one file per term, and terms are chosen by name.

A term computes one column from the candidates and declares the inputs that it needs.  The model is
linear in its columns, so the fit is convex for any choice of terms.
"""

from typing import TYPE_CHECKING

from repair._utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from repair.terms.registration import register_term
    from repair.terms.registry import PAPER_TERMS
    from repair.terms.term import Term

__all__ = ["PAPER_TERMS", "Term", "register_term"]

#: Imported when first used, so loading a model imports only the terms that it has.
_HOME = {"PAPER_TERMS": "registry", "Term": "term", "register_term": "registration"}


__getattr__, __dir__ = lazy_names("repair.terms", _HOME)
