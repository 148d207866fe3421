import subprocess
import sys

import pytest

from repair import similarity


def test_every_public_name_is_there_and_documented():
    for name in similarity.__all__:
        assert getattr(similarity, name).__doc__, name
    assert set(similarity._HOME) < set(similarity.__all__) <= set(dir(similarity))
    with pytest.raises(AttributeError, match="has no attribute 'jacard'"):
        similarity.jacard  # noqa: B018


def test_builders_and_scipy_are_imported_only_when_used():
    program = """
import sys, repair.similarity as similarity
print([name for name in sys.modules if name.startswith("repair.similarity.")], "scipy" in sys.modules)
similarity.jaccard, similarity.Ontology, similarity.taxonomy_similarity, similarity.cosine_similarity
similarity.wordnet_similarity(["a"], {"a": ()})
print("scipy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['repair.similarity.lookup'] False", "False"]
