"""The text of the pages on the extended mode.  The numbers in their tables are computed elsewhere."""

__all__ = ["ABLATION", "CLOSURE", "DIFFERENCES", "FRONTIER", "OPENING", "SAME_INFORMATION", "SIDES", "TARGETS", "TRIED"]

OPENING = """\
The mode *Extended* adds terms that the paper does not have, and it builds its own shortlists. *Extended+embeddings*
also uses one embedding per row and the labelled training rows of the base model. Accuracy over all rows can be compared
between all methods, even if their shortlists differ.

Read these figures with two limits in mind:

- **The test rows are not untouched data for the extended mode.** Every fit below makes its choices on calibration rows
  only. But the mode itself (its terms, their penalties, the numbers of neighbours, landmarks and folds) was first
  designed while we could see test rows of twelve of the benchmark entries, some of them also with a MiniLM base. Later
  changes were designed on calibration rows of [the design entries](../benchmarks.md#which-entries-may-design-use) only.
- **The rivals in these tables get no embeddings.** The gains of *Extended+embeddings* show what this extra knowledge is
  worth, not a better use of the same scores. For texts the embeddings are MiniLM's, even where the base model reads
  only words and so knows less than they do. With embeddings made from the base's own words the gains are far smaller,
  see [the study of the embeddings](vector_ablation.md)."""
TARGETS = """\
## The project's own targets

We set these targets for the extended mode. Whether each of them is reached is computed from the results."""
CLOSURE = """\
## How much of the published error is closed

The share of the published error that is closed is the paired difference to REPAIR as published, divided by the error
that REPAIR as published leaves.

- *All rows*: accuracy over all rows, with each method's own shortlists.
- *Base's list*: Hit@1 over the rows that the base's shortlist covers, with both methods on that list.

The interval is that of the difference, divided by the published error. It ignores that this error is itself an
estimate. The figures of small benchmarks vary widely, so the mean is shown with and without them."""
DIFFERENCES = """\
## Differences to each rival

These tables compare the fits on all calibration rows. Holm's correction treats all benchmarks and all rivals of one
method as one family. Some benchmarks share their test rows or their data, so they are not independent evidence."""
SIDES = """\
## Rare and frequent classes apart

Accuracy over all rows depends mostly on the frequent classes, which have most of the rows. A method can gain there and
still be below a rival on rare classes. This table counts both sides, for each method with its dial at 0."""
FRONTIER = """\
## Rare classes at equal accuracy on frequent classes

Every method has a dial between rare and frequent classes. Here the dial of the extended mode is turned until its
accuracy on frequent classes equals that of a rival with its dial at 0. Then the accuracies on rare classes are
compared. Both are over all rows, and the curve is interpolated linearly between the measured dials.

*n/a ↑* means that the rival's accuracy on frequent classes is above everything that the dial reaches, and *n/a ↓* that
it is below. The dial is turned on test rows, so the tables compare curves, not what a user would have chosen. There are
no intervals. `repair bench figure frontier` draws the curves."""
SAME_INFORMATION = "Rivals that get the same information as our methods are on [a page of their own](rivals.md)."
ABLATION = """\
## What its own shortlists and the embeddings bring

The first two columns show what the extended mode gains by its own shortlists, which cover more rows. The next two show
what it gains by embeddings, and the last one shows the gain by both."""
TRIED = """\
## What was tried and dropped

These figures come from exploratory runs on twelve benchmark entries, made while we could see the test rows, with a
single fit each. They are not from the committed harness, so they cannot be checked here, and they only guided the
design. *Closure* is the share of the published error that is closed, as defined above.

- Learned columns made by leaving out one row, instead of by cross-fitting. With them, `auto` accepted a correction on 8
  of 20 problems with nothing to gain.
- Shortlists chosen with offsets, a scale and a weight of the log frequency, all learned on lists of 20 or 40, instead
  of with a single τ. On eight entries, coverage was within a point of τ's on five and 1 to 5 points lower on three.
- A linear ridge regression on the candidates' shares for the term `context`, which this mode had before. In a full run
  of this harness it closed 3.6 % of the error on the base's list and 5.6 % over all rows. On 14 entries, ridge
  regression on all scores closed 4 % of the error on the list, and the kernel 7 to 9 %. With 256, 512 or 1,000
  landmarks instead of 384, the differences were no larger than noise. The mode uses 256, for speed.
- The same kernel on embeddings for the term `head`, or a regression of the residuals on embeddings. Neither was better
  than the ridge regression together with `neighbours`.
- Offsets shrunk towards those of similar classes, through a column with the mean residual of these classes. It added
  nothing to `context`: the mean closure was 13.6 % with it and 13.7 % without.
- A separate prior variance for each block of weights, or for each weight. The mean closure was 10.3 % and 10.2 %,
  against 11.2 %, without embeddings, and 23.5 % and 23.2 %, against 23.1 %, with them.
- A dial chosen for accuracy by cross-validation. It gained nothing on ten entries.
- Nonlinear score terms (tanh, log-sigmoid, probability × log-frequency, entropy and margin as context). The likelihood
  was better, but the accuracy was not on average. The mean closure was 3.7 % with them and 6.4 % without.
- Pairwise terms with a diagonal penalty instead of a full ridge penalty. The closure was 4 to 6 %, against 7.4 %.
- Gaussian class models, prototypes and class-balanced votes on embeddings. They were no better than ridge regression
  with several penalties.

Three ideas that were dropped at first later became terms. Neighbours in score space were no better than the old
`context`, and are now `score_neighbours`. A logistic head closed 1.5 points more on six entries, at many times the
cost, and is now `logistic_head`. Gaussian class models are now `discriminant`.

The following ideas were tried later, on calibration rows of design entries only, by five outer folds. The figures are
mean gains in points of accuracy over the mode as it is, and differences below 0.2 are no larger than noise.

- Every learned column times the log-frequency of the class, as further columns: +0.2 on six entries from scores. The
  base score times the log-frequency alone gained as much on seven entries and was kept (`score_by_frequency`).
- Every learned column times the entropy of the row: +0.1 on three entries from scores, −0.2 on two with embeddings.
- The hyperbolic tangent and the exponential of the score's lead: 0.0 on three entries.
- The probabilities of `score_head` and `logistic_head` as further columns: +0.1 on seven entries from scores, −0.2 on
  two with embeddings.
- The logarithm of the predictions of `head`: +0.1 on three entries that already had `discriminant`.
- Lists of 30 instead of 10 classes from scores alone: +0.2 on six entries, at three times the cost of reranking."""
