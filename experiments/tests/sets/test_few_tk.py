"""Few-TK: mentions from tagged tokens."""

import numpy as np
import pytest

from repair import InputError
from repair_bench.sets.few_tk import mentions, read

SENTENCES = "We\tO\nuse\tO\nAdam\tML-tool\nand\tO\nBERT\tNLP-tool\n\nAdam\tML-tool\nhelps\tO\nNLP\tNLP-focus\n"


def test_every_run_of_a_tag_is_a_row_with_its_mention_marked():
    assert list(mentions(SENTENCES)) == [
        (0, "ML-tool", "We use « Adam » and BERT"),
        (0, "NLP-tool", "We use Adam and « BERT »"),
        (1, "ML-tool", "« Adam » helps NLP"),
        (1, "NLP-focus", "Adam helps « NLP »"),
    ]
    # Two tags side by side are two mentions; windows' line ends and blank lines at the end do no harm.
    assert [tag for _, tag, _ in mentions("a\tX-a\r\nb\tX-a\r\nc\tX-b\r\n\r\n\r\n")] == ["X-a", "X-b"]


def test_a_line_without_a_tag_is_named():
    with pytest.raises(InputError, match=r"sentence 0, token 1 is \['use'\]"):
        list(mentions("We\tO\nuse\n"))


def test_mentions_of_a_sentence_are_a_group_and_parts_share_none(tmp_path, write_gz):
    for part in ("train", "dev"):
        write_gz(tmp_path / f"{part}.txt.gz", SENTENCES)
    write_gz(tmp_path / "test.txt.gz", SENTENCES + "\nnew\tNew-type\n")
    problem = read({"few_tk": tmp_path}, 0)
    assert problem.class_names == ("ML-tool", "NLP-focus", "NLP-tool")
    assert problem.part.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert problem.groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert problem.notes == ("classes without a training row were left out (classes: 1, rows: 1)",)


@pytest.mark.needs("sklearn")
def test_a_slice_of_the_real_data_trains_a_base(real_slice):
    problem, base, found = real_slice("few_tk")
    assert np.bincount(problem.part).tolist() == [4803, 737, 1445]
    assert len(np.unique(problem.groups)) == 3037
    assert base.test_groups is not None
    assert found.full["Pairwise"]["nll"] < found.full["Base"]["nll"]
