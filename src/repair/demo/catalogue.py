"""OMIM's diseases with their phenotypes, and all names, from the package ``hpo3``."""

from dataclasses import dataclass

from repair.similarity.hpo import annotations_from_hpo3
from repair.similarity.ontology import Ontology

__all__ = ["Catalogue", "read_catalogue"]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Diseases, their phenotypes, and the names of both.

    Attributes
    ----------
    ontology : Ontology
        The terms of HPO.
    annotations : dict
        Phenotype ids of each disease id.
    disease_names, term_names : dict
        Name of each disease id and of each term id.
    """

    ontology: Ontology
    annotations: dict[str, tuple[str, ...]]
    disease_names: dict[str, str]
    term_names: dict[str, str]


def read_catalogue() -> Catalogue:
    """Read OMIM's diseases from the package ``hpo3``, without a download.

    Returns
    -------
    Catalogue

    Examples
    --------
    >>> from repair.demo.catalogue import read_catalogue
    >>> read_catalogue().disease_names["OMIM:147920"]  # doctest: +SKIP
    'Kabuki syndrome 1'
    """
    ontology = Ontology.from_hpo3()  # first, because its error says which extra is missing
    from pyhpo import Ontology as Hpo3

    annotations = {name: terms for name, terms in annotations_from_hpo3().items() if name.startswith("OMIM:")}
    diseases = {f"OMIM:{disease.id}": str(disease.name) for disease in Hpo3.omim_diseases}
    return Catalogue(ontology, annotations, diseases, {term.id: str(term.name) for term in Hpo3})
