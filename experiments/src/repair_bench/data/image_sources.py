"""Image sets: where they are published, their licences, and their layouts."""

from repair_bench.data.file_checks import arrays, columns, image_list, json_object, matrix
from repair_bench.data.layouts import (
    AUTHORS,
    OURS,
    WITH_FEATURES,
    WITH_SCORES,
    File,
    Layout,
    Source,
    files_of,
)

__all__ = ["SOURCES"]


#: How to get what the lists of images do not have.
HOW_SCORES = (
    "Put scores.npz or features.npz next to them (docs/data-sets.md says which arrays), or use the authors' files."
)


def features_layout() -> Layout:
    files = (
        File("features", ("features_efficientnet_lite0.npz",), arrays("features", "labels", "split")),
        File("meta", ("meta.json",), json_object()),
    )
    return Layout(OURS, files, named=True)


def _counts(name: str) -> File:
    """Return the file of class counts with which those of a training list are compared."""
    return File("counts", (f"../longtail_class_counts/{name}.csv",), columns("class_index", "train"), optional=True)


def _images(prefix: str, authors: tuple[File, ...], extra: tuple[File, ...] = ()) -> tuple[Layout, ...]:
    """Return the layouts of a long-tailed image set that is published as lists."""
    lists = files_of(f"{prefix}_train.txt {prefix}_test.txt", image_list, ("", "data/"))
    lists = tuple(File(file.name.rpartition("_")[2], file.paths, file.check) for file in lists)
    return (
        Layout(WITH_SCORES, (*lists, *extra, File("scores", ("scores.npz",), arrays("scores", matrices=("scores",))))),
        Layout(WITH_FEATURES, (*lists, *extra, File("features", ("features.npz",), arrays("train", "test")))),
        Layout(AUTHORS, authors),
    )


SOURCES = (
    Source(
        "inat2018",
        "github.com/visipedia/inat_comp/tree/master/2018",
        "non-commercial research (images: of their authors)",
        f"Get train2018.json, val2018.json and categories.json (names and taxonomy), and the images. {HOW_SCORES}",
        tuple(
            Layout(
                title,
                (
                    File("train", ("train2018.json",), json_object()),
                    File("val", ("val2018.json",), json_object()),
                    File("categories", ("categories.json",), json_object(), optional=True),
                    File(
                        "taxonomy",
                        ("../longtail_class_counts/inat2018_taxonomy.csv",),
                        columns("genus", "family", "kingdom"),
                        optional=True,
                    ),
                    extra,
                ),
            )
            for title, extra in (
                (WITH_SCORES, File("scores", ("scores.npz",), arrays("scores", matrices=("scores",)))),
                (WITH_FEATURES, File("features", ("features.npz",), arrays("train", "val"))),
            )
        )
        + (
            Layout(
                AUTHORS,
                (
                    File(
                        "scores",
                        ("results/inat/logits.npz", "inat/logits.npz"),
                        arrays(
                            "cal_logits",
                            "cal_labels",
                            "test_logits",
                            "test_labels",
                            "counts",
                            "tax_dist",
                            matrices=("cal_logits", "test_logits", "tax_dist"),
                        ),
                    ),
                ),
            ),
        ),
        ("inat2018", "inat_2018", "iNaturalist18"),
    ),
    Source(
        "imagenet_lt",
        "github.com/facebookresearch/classifier-balancing",
        "lists BSD-3-Clause; images: terms of image-net.org",
        f"Get ImageNet_LT_train.txt and ImageNet_LT_test.txt, and the ILSVRC 2012 images. {HOW_SCORES}",
        _images(
            "ImageNet_LT",
            (
                File(
                    "scores",
                    ("results/imagenet_lt/imagenet_lt_logits.npz", "imagenet_lt_logits.npz"),
                    arrays("logits", "labels", matrices=("logits",)),
                ),
                File("train", ("data/imagenet_lt/ImageNet_LT_train.txt", "ImageNet_LT_train.txt"), image_list),
                File("similarity", ("results/imagenet_lt/wn_sim.npy", "wn_sim.npy"), matrix(2), optional=True),
            ),
            (
                File(
                    "wordnet",
                    tuple(
                        f"{folder}imagenet_lt_wordnet30_hypernyms.json" for folder in ("", "../longtail_class_counts/")
                    ),
                    json_object(),
                    optional=True,
                ),
                _counts("imagenet_lt"),
            ),
        ),
        ("imagenet_lt", "ImageNet_LT", "ImageNet-LT"),
    ),
    Source(
        "places_lt",
        "github.com/zhmiao/OpenLongTailRecognition-OLTR",
        "lists BSD-3-Clause; images: terms of places2.csail.mit.edu",
        f"Get Places_LT_train.txt and Places_LT_test.txt, and the Places365 images. {HOW_SCORES}",
        _images(
            "Places_LT",
            (
                File(
                    "scores",
                    ("results/backbone/resnet152_places_lt_logits.npz", "resnet152_places_lt_logits.npz"),
                    arrays("test_logits", "test_labels", "train_counts", matrices=("test_logits",)),
                ),
            ),
            (_counts("places_lt"),),
        ),
        ("places_lt", "Places_LT", "Places-LT"),
    ),
    Source(
        "caltech101",
        "data.caltech.edu/records/mzrjq-6wc02",
        "CC BY 4.0",
        "Our extract has features of EfficientNet-Lite0.",
        (features_layout(),),
    ),
    Source(
        "flowers102",
        "robots.ox.ac.uk/~vgg/data/flowers/102",
        "none stated",
        "Our extract has features of EfficientNet-Lite0.",
        (features_layout(),),
    ),
    Source(
        "cifar100_outputs",
        "github.com/EFS-OpenSource/calibration-framework",
        "Apache-2.0",
        "Our extract has the log-probabilities of wideresnet-16-4.",
        (
            Layout(
                OURS,
                (
                    File("outputs", ("wideresnet-16-4_test_logprobs.npz",), arrays("log_probs", "labels")),
                    File("names", ("class_names.json",), json_object()),
                ),
            ),
        ),
    ),
)
