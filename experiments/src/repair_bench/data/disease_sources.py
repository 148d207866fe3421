"""Rare-disease sets: where they are published, their licences, and their layouts."""

from dataclasses import replace
from pathlib import Path

from repair_bench.data.file_checks import arrays, columns, json_lines, json_object, matrix, starts_with
from repair_bench.data.layouts import AUTHORS, OFFICIAL, OURS, WITH_SCORES, File, Layout, Source, files_of

__all__ = ["GMDB_AUTHORS", "RAREBENCH_AUTHORS", "SOURCES"]


#: The folders in which the metadata of GMDB are looked for, from its own folder and from a neighbouring one.
GMDB_FOLDERS = ("gmdb_metadata/", "", "../gmdb/gmdb_metadata/", "../gmdb/")
GMDB_METADATA = (
    *(
        File(part, tuple(f"{folder}gmdb_{part}_images_v*.csv" for folder in GMDB_FOLDERS), columns("image_id", "label"))
        for part in ("train", "val", "test")
    ),
    File(
        "syndromes",
        tuple(f"{folder}gmdb_syndromes_v*.tsv" for folder in GMDB_FOLDERS),
        columns("syndrome_id", "syndrome_name", separator="\t"),
    ),
)
CLASS_NORMS = File("norms", ("results/gmdb_classifier_norms.npy", "gmdb_classifier_norms.npy"), matrix(1))
CARDS = File(
    "cards",
    ("qwen-vl-finetune/qwenvl/data/v2_disease_cards.json", "v2_disease_cards.json"),
    json_object(),
)


def _ontology(path: Path) -> str:
    if ".obo" in path.name:
        return starts_with("format-version")(path)
    return json_object("terms" if "terms" in path.name else "graphs")(path)


def _annotations(path: Path) -> str:
    if ".hpoa" in path.name:
        return columns("database_id", "hpo_id", separator="\t")(path)
    return json_lines("id", "hpo")(path)


#: The ontology next to the files of another data set.
HPO_BESIDE = (
    File("terms", ("hp.obo", "hp.json", "../hpo/hp.obo", "../hpo/hp.json", "../hpo/hpo_terms.json"), _ontology),
    File(
        "annotations",
        ("phenotype.hpoa", "../hpo/phenotype.hpoa", "../hpo/disease_annotations.jsonl"),
        _annotations,
    ),
)

QWEN = "qwen-vl-inference/results/inference_output/v2_kway_08b_final"
GMDB_AUTHORS = (
    *(
        File(
            name,
            (f"{QWEN}_{part}.logits.npz", f"v2_kway_08b_final_{part}.logits.npz"),
            arrays("logits", "true_labels", matrices=("logits",)),
        )
        for name, part in (("calibration_scores", "cal"), ("test_scores", "test"))
    ),
    File(
        "manifest",
        ("qwen-vl-finetune/qwenvl/data/v2_manifest.csv", "v2_manifest.csv"),
        columns("split", "disease_name"),
    ),
    CARDS,
    CLASS_NORMS,
)
RAREBENCH_AUTHORS = (
    File(
        "scores",
        ("results/rarebench/rarebench_qwen_logits.npz", "rarebench_qwen_logits.npz"),
        arrays("logits", "labels", matrices=("logits",)),
    ),
    File("counts", ("results/rarebench/disease_train_counts.npy", "disease_train_counts.npy"), matrix(1)),
    CLASS_NORMS,
    # GMDB's names and cards, from which the similarity of its diseases is made.
    *(replace(file, optional=True) for file in GMDB_AUTHORS if file.name in ("cards", "calibration_scores")),
)
RAREBENCH_CASES = files_of(
    "RAMEDIS.jsonl MME.jsonl HMS.jsonl LIRICAL.jsonl", json_lines("Phenotype", "RareDisease"), ("data/", "")
)

SOURCES = (
    Source(
        "phenopacket_store",
        "github.com/monarch-initiative/phenopacket-store",
        "BSD-3-Clause",
        "Our extract has one line per case: disease_id, pmid, hpo_observed.",
        (Layout(OURS, files_of("cases.jsonl", json_lines("disease_id", "pmid", "hpo_observed"))),),
    ),
    Source(
        "hpo",
        "hpo.jax.org",
        "HPO licence (free use with attribution and version)",
        "Download hp.obo or hp.json, and phenotype.hpoa.",
        (
            Layout(
                OFFICIAL,
                (
                    File("terms", ("hp.obo", "hp.json"), _ontology),
                    File("annotations", ("phenotype.hpoa",), _annotations),
                ),
            ),
            Layout(
                OURS,
                (
                    File("terms", ("hpo_terms.json",), _ontology),
                    File("annotations", ("disease_annotations.jsonl",), _annotations),
                ),
            ),
        ),
    ),
    Source(
        "rarebench_public",
        "github.com/xiaohaomao/timgroup_disease_diagnosis",
        "Apache-2.0",
        "Our extract of the public cases. RareBench's own four files are read as well.",
        (
            Layout(OURS, files_of("public_test_set.jsonl", json_lines("disease_ids", "hpo_observed"))),
            Layout(OFFICIAL, RAREBENCH_CASES),
        ),
        ("rarebench_public", "rarebench", "RareBench"),
    ),
    Source(
        "gmdb",
        "db.gestaltmatcher.org",
        "on application only; CC BY-NC 4.0 for the published code",
        "Apply for access, and get gmdb_metadata and the images. Put scores.npz next to them (docs/data-sets.md), or "
        "use the authors' files.",
        (
            Layout(
                WITH_SCORES,
                (
                    *GMDB_METADATA,
                    *HPO_BESIDE,
                    File("scores", ("scores.npz",), arrays("calibration_scores", "test_scores", "weight_norms")),
                ),
            ),
            Layout(AUTHORS, GMDB_AUTHORS),
        ),
        ("gmdb", "GestaltMatcherDB"),
    ),
    Source(
        "rarebench_gmdb",
        "huggingface.co/datasets/chenxz/RareBench, db.gestaltmatcher.org",
        "RareBench Apache-2.0; GMDB on application only",
        "Unpack RareBench's data.zip, put GMDB's metadata into ../gmdb, HPO into ../hpo, and the scores of a GMDB "
        "classifier into rarebench_scores.npz (docs/data-sets.md), or use the authors' files.",
        (
            Layout(
                WITH_SCORES,
                (
                    *RAREBENCH_CASES,
                    *GMDB_METADATA,
                    *HPO_BESIDE,
                    File("scores", ("rarebench_scores.npz",), arrays("scores", "weight_norms", matrices=("scores",))),
                ),
            ),
            Layout(AUTHORS, RAREBENCH_AUTHORS),
        ),
        ("rarebench", "RareBench"),
    ),
)
