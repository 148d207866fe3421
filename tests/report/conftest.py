"""One small problem with names that mean harm, judged on test rows and on folds."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from repair import Reranker, ScoreSet
from repair.datasets import SyntheticSettings, make_synthetic

K = 20
HOSTILE = (
    "</script><script>window.harmed=1</script>",
    "<img src=x onerror=window.harmed=1>",
    "{{data}}",
    '" onfocus="window.harmed=1',
    "var(--model)",
    "caf\u00e9 \u2028 & <!-- ]]>",
)
SECRET = "secret words of row"


@pytest.fixture(scope="session")
def rows():
    made = make_synthetic(SyntheticSettings(n_classes=K, n_calibration=500, n_test=300, n_pairs=4))
    names = (*HOSTILE, *(f"class {place:02}" for place in range(len(HOSTILE), K)))
    known = {"class_counts": made.class_counts, "class_names": names, "similarity": made.similarity}
    parts = [ScoreSet(part.scores, part.labels, **known) for part in (made.calibration, made.test)]
    return SimpleNamespace(calibration=parts[0], test=parts[1], names=names, counts=made.class_counts)


@pytest.fixture(scope="session")
def model(rows):
    return fitted("pairwise", rows.calibration)


def fitted(mode, calibration, **options):
    return Reranker(mode, n_candidates=6, **options).fit(
        calibration.scores, calibration.labels, **calibration.optional_fields
    )


@pytest.fixture(scope="session")
def diagnosis(rows):
    from repair import diagnose

    given = rows.calibration
    known = {"similarity": given.similarity, "class_names": given.class_names, "n_candidates": 6, "draws": 20}
    return diagnose(given.scores, given.labels, class_counts=given.class_counts, **known)


@pytest.fixture(scope="session")
def texts(rows):
    return [f"{SECRET} {place} </script><b>bold</b>" for place in range(len(rows.test))]


@pytest.fixture(scope="session")
def content(rows, model, diagnosis, texts):
    """Judged on test rows, with single rows in it."""
    from repair.report.content import gather

    ids = [f"id-{place}" for place in range(len(rows.test))]
    return gather(model, rows.calibration, rows.test, rows=25, row_ids=ids, row_texts=texts, diagnosis=diagnosis)


@pytest.fixture(scope="session")
def by_folds(rows, model, diagnosis):
    """Judged on folds of the calibration rows, without single rows."""
    from repair.report.content import gather

    return gather(model, rows.calibration, diagnosis=diagnosis)


@pytest.fixture(scope="session")
def page(content):
    from repair.report.page import as_html

    return as_html(content)


@pytest.fixture(scope="session")
def kept():
    """A report that keeps the base order, because the scores are the truth.  Groups of very unequal size."""
    from repair.report.content import gather

    rng = np.random.default_rng(6)

    def part():
        scores = 1.2 * rng.normal(size=(700, 8))
        labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        counts = 5 * np.bincount(labels, minlength=8)
        groups = np.minimum(rng.integers(0, 500, size=700), 450)
        return ScoreSet(scores, labels, class_counts=counts, class_names=tuple("abcdefgh"), groups=groups)

    calibration, test = part(), part()
    model = Reranker(n_candidates=5).fit(calibration)
    assert model.mode_ == "base"
    texts = ["a long text " * 150] * 700
    content = gather(model, calibration, test, rows=10, first_rows=[123], row_texts=texts, draws=20)
    return SimpleNamespace(model=model, calibration=calibration, test=test, content=content)


@pytest.fixture(scope="session")
def few():
    """A report on four classes."""
    from repair.report.content import gather

    made = make_synthetic(SyntheticSettings(n_classes=4, n_calibration=300, n_test=300, n_candidates=3, n_pairs=1))
    known = {"class_counts": made.class_counts, "similarity": made.similarity}
    parts = [ScoreSet(part.scores, part.labels, **known) for part in (made.calibration, made.test)]
    return gather(Reranker("pairwise", n_candidates=3).fit(parts[0]), *parts, rows=5, draws=20)


@pytest.fixture(scope="session")
def noise():
    """Rows whose labels have nothing to do with their scores: whatever is gained in sample is overfitting."""
    rng = np.random.default_rng(7)
    scores, labels = 0.01 * rng.normal(size=(300, 12)), rng.integers(0, 12, size=300)
    return ScoreSet(scores, labels, groups=rng.integers(0, 40, size=300))


@pytest.fixture(scope="session")
def chromium():
    """A browser of the system, with a profile of its own; skip, by name, where there is none."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("needs Chromium, which is not installed (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    options = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*options.split(), "--disable-sync"])
        yield browser
        browser.close()


@pytest.fixture
def hostile():
    return HOSTILE


@pytest.fixture
def secret():
    return SECRET
