"""The pages in docs/results are those that the JSON files in experiments/results give."""

from repair_bench.report.publish import pages
from repair_bench.report.reading import read_results


def test_the_pages_can_be_rebuilt_without_a_run(repository):
    rebuilt = dict(pages(read_results(repository / "experiments" / "results")))
    published = {path.name: path.read_text(encoding="utf-8") for path in (repository / "docs" / "results").iterdir()}
    assert sorted(rebuilt) == sorted(published)
    assert [name for name in rebuilt if rebuilt[name] != published[name]] == []
