"""Text sets: where they are published, their licences, and their layouts."""

from repair_bench.data.file_checks import columns, json_lines, lines_of_names, tagged_tokens, text_and_labels
from repair_bench.data.layouts import OFFICIAL, OURS, File, Layout, Source, files_of

__all__ = ["SOURCES"]


#: The coarse entity types of Few-NERD.
COARSE = ("art", "building", "event", "location", "organization", "other", "person", "product")

SOURCES = (
    Source(
        "goemotions",
        "github.com/google-research/google-research/tree/master/goemotions",
        "Apache-2.0",
        "Get goemotions/data: train.tsv, dev.tsv, test.tsv and emotions.txt.",
        (
            Layout(
                OFFICIAL,
                (
                    *files_of("train.tsv dev.tsv test.tsv", text_and_labels, ("", "data/")),
                    File("names", ("emotions.txt", "data/emotions.txt"), lines_of_names),
                ),
            ),
            Layout(
                OURS,
                (
                    *files_of("train.tsv dev.tsv test.tsv", text_and_labels),
                    File("names", ("labels.txt",), lines_of_names),
                ),
                named=True,
            ),
        ),
    ),
    Source(
        "massive_en_us",
        "github.com/alexa/massive",
        "CC BY 4.0",
        "Unpack amazon-massive-dataset-1.0.tar.gz; 1.0/data/en-US.jsonl is read.",
        (
            Layout(
                OFFICIAL,
                (
                    File(
                        "rows",
                        tuple(f"{folder}en-US.jsonl" for folder in ("1.0/data/", "data/", "", "1.1/data/")),
                        json_lines("partition", "intent", "utt"),
                    ),
                ),
            ),
            Layout(
                OURS,
                files_of("train.jsonl validation.jsonl test.jsonl", json_lines("text", "label", "label_text")),
                named=True,
            ),
        ),
        ("massive_en_us", "massive", "amazon-massive-dataset-1.0"),
    ),
    Source(
        "huffpost",
        "kaggle.com/datasets/rmisra/news-category-dataset",
        "CC BY 4.0",
        "Download version 3: News_Category_Dataset_v3.json.",
        (
            Layout(
                OFFICIAL,
                (
                    File(
                        "rows",
                        ("News_Category_Dataset_v3.json", "News_Category_Dataset_v2.json"),
                        json_lines("headline", "category", "short_description"),
                    ),
                ),
            ),
        ),
    ),
    Source(
        "huffpost_natural",
        "kaggle.com/datasets/rmisra/news-category-dataset",
        "CC BY 4.0",
        "This part of the articles is ours; the whole set is the benchmark huffpost.",
        (Layout(OURS, files_of("natural_long_tail.jsonl", json_lines("text", "category")), named=True),),
        ("huffpost",),
    ),
    Source(
        "huffpost_41",
        "kaggle.com/datasets/rmisra/news-category-dataset",
        "CC BY 4.0",
        "This balanced part of the headlines is ours; the whole set is the benchmark huffpost.",
        (
            Layout(
                OURS,
                (
                    *files_of("headlines_41x900.jsonl", json_lines("text", "class_name")),
                    File("counts", ("category_counts_v2.csv",), columns("category", "count")),
                ),
                named=True,
            ),
        ),
        ("huffpost",),
    ),
    Source(
        "few_nerd",
        "github.com/thunlp/Few-NERD",
        "CC BY-SA 4.0",
        "Run data/download.sh of that repository with the argument supervised.",
        (
            Layout(
                OFFICIAL,
                tuple(
                    File(
                        part,
                        tuple(
                            f"{folder}{name}.txt"
                            for folder in ("supervised/", "data/supervised/", "")
                            for name in names
                        ),
                        tagged_tokens(COARSE),
                    )
                    for part, names in (("train", ("train",)), ("dev", ("dev", "val")), ("test", ("test",)))
                ),
            ),
        ),
        ("few_nerd", "few-nerd", "Few-NERD"),
    ),
    Source(
        "few_tk",
        "github.com/AvishekLahiri/Few_TK",
        "none stated",
        "Get data/supervised: train.txt, dev.txt and test.txt.",
        (
            Layout(
                OFFICIAL,
                files_of(
                    "train.txt dev.txt test.txt",
                    tagged_tokens(COARSE, others=True),
                    ("", "supervised/", "data/supervised/"),
                ),
            ),
        ),
    ),
)
