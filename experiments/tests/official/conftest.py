"""Generated files in the layouts of the publishers."""

import json

import numpy as np
import pytest

OBO = """format-version: 1.2
data-version: hp/releases/2025-01-16
ontology: hp

[Term]
id: HP:0000001
name: All

[Term]
id: HP:0000118
name: Phenotypic abnormality
is_a: HP:0000001 ! All

[Term]
id: HP:0000271
name: Abnormality of the face
alt_id: HP:0009999
is_a: HP:0000118 {source="x"} ! Phenotypic abnormality

[Term]
id: HP:0000316
name: Hypertelorism
is_a: HP:0000271 ! Abnormality of the face

[Term]
id: HP:0001250
name: Seizure
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000005
name: obsolete Mode
is_obsolete: true
replaced_by: HP:0000316

[Typedef]
id: part_of
is_a: nothing
"""
HPOA_COLUMNS = (
    "database_id",
    "disease_name",
    "qualifier",
    "hpo_id",
    "reference",
    "evidence",
    "onset",
    "frequency",
    "sex",
    "modifier",
    "aspect",
    "biocuration",
)
HPOA_HEADER = "\t".join(HPOA_COLUMNS)


def _annotation(disease, term, qualifier="", frequency="", aspect="P"):
    return f"OMIM:{disease}\tName\t{qualifier}\t{term}\tPMID:1\tPCS\t\t{frequency}\t\t\t{aspect}\tHPO:x[2025-01-01]"


@pytest.fixture
def write_hpo(tmp_path):
    """Write hp.obo and phenotype.hpoa: odd diseases have a facial term, and even ones have none."""

    def write(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hp.obo").write_text(OBO)
        rows = [
            _annotation(100000 + one, "HP:0000316" if one % 2 else "HP:0001250", frequency="3/4") for one in range(1, 9)
        ]
        rows += [
            _annotation(100002, "HP:0000316", qualifier="NOT"),
            _annotation(100004, "HP:0000316", frequency="0/12"),
            _annotation(100006, "HP:0000316", aspect="I"),
        ]
        content = ["#description: annotations", "#version: 2025-01-16", HPOA_HEADER, *rows]
        (folder / "phenotype.hpoa").write_text("\n".join(content) + "\n")
        return folder

    return write


def _lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_goemotions(folder):
    folder.mkdir(parents=True)
    (folder / "emotions.txt").write_text("joy\nanger\nneutral\n")
    for part in ("train", "dev", "test"):
        rows = [f"word{label} {part} {one}\t{label}\tid{one}" for label in range(3) for one in range(6)]
        (folder / f"{part}.tsv").write_text("\n".join([*rows, "both\t0,1\tid"]) + "\n")


def write_massive(folder):
    rows = [
        {
            "id": str(one),
            "locale": "en-US",
            "partition": part,
            "intent": f"intent{one % 3}",
            "utt": f"word{one % 3} {one}",
        }
        for part in ("train", "dev", "test")
        for one in range(18)
    ]
    _lines(folder / "1.0" / "data" / "en-US.jsonl", rows)


def write_huffpost(folder):
    rows = [
        {"link": "x", "headline": f"Head {one}", "category": f"C{one % 3}", "short_description": f"word{one % 3}",
         "authors": "", "date": "2022-01-01"}
        for one in range(60)
    ]  # fmt: skip
    _lines(
        folder / "News_Category_Dataset_v3.json", [*rows, rows[0], {**rows[0], "headline": "", "short_description": ""}]
    )


def write_few_nerd(folder, dev="dev"):
    (folder / "supervised").mkdir(parents=True)
    sentence = "Ada\tperson-scholar\nLovelace\tperson-scholar\nleft\tO\nLondon\tlocation-GPE\n\n"
    for part in ("train", dev, "test"):
        (folder / "supervised" / f"{part}.txt").write_text(sentence * 4)


def write_list(folder, prefix, counts, evaluated):
    """Write lists of a long-tailed image set: `evaluated` images per class in the test part."""
    folder.mkdir(parents=True, exist_ok=True)
    train = [f"train/n{label:08d}/{one}.JPEG {label}" for label, n in enumerate(counts) for one in range(n)]
    test = [f"val/{label}_{one}.JPEG {label}" for one in range(evaluated) for label in range(len(counts))]
    (folder / f"{prefix}_train.txt").write_text("\n".join(train) + "\n")
    (folder / f"{prefix}_test.txt").write_text("\n".join(test) + "\n")
    return np.tile(np.arange(len(counts)), evaluated)


def write_inat(folder, taxonomy=True):
    folder.mkdir(parents=True)
    levels = ("kingdom", "phylum", "class", "order", "family", "genus")
    categories = [
        {"id": one, "name": f"species {one}", **{level: f"{level}{one // 2}" for level in levels}} for one in range(4)
    ]
    hidden = [{"id": one, "name": str(one), "supercategory": "Aves"} for one in range(4)]
    for part, per_class in (("train2018", 6), ("val2018", 10)):
        n = 4 * per_class
        document = {
            "info": {},
            "images": [{"id": 7 * one, "file_name": f"{part}/{one}.jpg"} for one in range(n)],
            "annotations": [{"id": one, "image_id": 7 * one, "category_id": one % 4} for one in reversed(range(n))],
            "categories": hidden,
        }
        (folder / f"{part}.json").write_text(json.dumps(document))
    if taxonomy:
        (folder / "categories.json").write_text(json.dumps(categories))
    return np.arange(40) % 4


def write_gmdb(folder):
    """Write GMDB's metadata: syndromes 1 to 8 with OMIM ids 100001 to 100008."""
    metadata = folder / "gmdb_metadata"
    metadata.mkdir(parents=True)
    rows = [f"{one}\tDisease {one}\t['{100000 + one}']" for one in range(1, 9)]
    (metadata / "gmdb_syndromes_v1.1.0.tsv").write_text(
        "\n".join(["syndrome_id\tsyndrome_name\tomim_ids", *rows]) + "\n"
    )
    for part, per_class in (("train", 5), ("val", 3), ("test", 4)):
        images = [f"{part}{one}_{image},{one}" for image in range(per_class) for one in range(1, 9)]
        (metadata / f"gmdb_{part}_images_v1.1.0.csv").write_text("\n".join(["image_id,label", *images]) + "\n")


def write_rarebench(folder):
    """Write RareBench's four files: eight cases each, of OMIM:100001 and so on."""
    for subset in ("RAMEDIS", "MME", "HMS", "LIRICAL"):
        rows = [
            {"Phenotype": ["HP:0000316", "HP:0001250"], "RareDisease": [f"ORPHA:{one}", f"OMIM:{100000 + one}"],
             "Department": None}
            for one in range(1, 9)
        ]  # fmt: skip
        _lines(folder / "data" / f"{subset}.jsonl", rows)


WRITERS = {
    "goemotions": write_goemotions,
    "massive": write_massive,
    "huffpost": write_huffpost,
    "few_nerd": write_few_nerd,
    "few_nerd_val": lambda folder: write_few_nerd(folder, "val"),
    "list": write_list,
    "inat2018": write_inat,
    "gmdb": write_gmdb,
    "rarebench": write_rarebench,
}


@pytest.fixture
def official():
    """Return the functions that write official layouts, by name."""
    return WRITERS


@pytest.fixture
def published_folder(tmp_path, write_hpo):
    """Return a data folder with every data set of the paper in its official layout, with generated scores."""
    data, rng = tmp_path / "data", np.random.default_rng(0)
    for name, folder in (("goemotions", "goemotions"), ("massive", "massive"), ("huffpost", "huffpost")):
        WRITERS[name](data / folder)
    write_few_nerd(data / "few_nerd")
    for name, prefix in (("imagenet_lt", "ImageNet_LT"), ("places_lt", "Places_LT")):
        labels = write_list(data / name, prefix, (9, 5, 2), 20)
        np.savez(data / name / "scores.npz", scores=_scores(rng, labels, 3), labels=labels)
    labels = write_inat(data / "inat2018")
    np.savez(data / "inat2018" / "scores.npz", scores=_scores(rng, labels, 4))
    write_hpo(data / "hpo")
    write_gmdb(data / "gmdb")
    norms = np.array([1.0, 2.0, 0.5, 1.0])
    parts = {
        f"{part}_scores": _scores(rng, np.tile(np.arange(4), n), 4) for part, n in (("calibration", 3), ("test", 4))
    }
    np.savez(data / "gmdb" / "scores.npz", weight_norms=norms, **parts)
    write_rarebench(data / "rarebench")
    labels = np.tile(np.arange(4), 4)
    np.savez(data / "rarebench" / "rarebench_scores.npz", scores=_scores(rng, labels, 4), weight_norms=norms)
    return data


def _scores(rng, labels, n_classes):
    return (2 * np.eye(n_classes)[labels] + rng.normal(size=(len(labels), n_classes))).astype(np.float32)
