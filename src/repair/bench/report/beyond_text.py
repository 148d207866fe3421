"""The words of the section on what goes beyond the paper; its numbers are computed elsewhere."""

__all__ = ["ABLATION", "CLOSURE", "DIFFERENCES", "FRONTIER", "OPENING", "SIDES", "TARGETS", "TRIED"]

OPENING = """\
The mode *extended* adds terms that the paper does not have and takes shortlists of its own. *+embeddings* also
gets a vector of each row and the base's labelled training rows, which no rival gets: its gains show what that
knowledge is worth, not a better use of the same scores. The vectors of texts are MiniLM's, also where the base reads
words only and so knows less than they do; with vectors made of the base's own words the gains are far smaller, see
[What the rows' vectors bring](#what-the-rows-vectors-bring-to-a-base-that-reads-words). Over all rows everyone can be
compared, whatever the shortlist. Every fit below chooses on calibration rows only, but the mode itself (which terms,
their penalties, the numbers of neighbours, landmarks and folds) was settled while looking at test rows of twelve of
these sets, some also with a MiniLM base: for it they are not untouched data."""
DIFFERENCES = """\
The differences below are of the fits on all calibration rows. One family for Holm's correction is all benchmarks
and all rivals of one method. Some benchmarks share their test rows or their data, so they are not independent
evidence."""
CLOSURE = """\
Closed error: the paired difference to REPAIR as published, divided by the error that this one leaves. *All rows*:
accuracy, with own shortlists. *Base's list*: Hit@1 over the rows that the base's shortlist covers, on that same
list. The interval is that of the difference divided by the published error, held fixed; it leaves out that the
error itself is an estimate. Small benchmarks swing widely, so both means are shown."""
TARGETS = """\
The project's own targets. The verdicts are computed from the tables that follow."""
SIDES = """\
Accuracy over all rows leans to frequent classes, which have most rows. A method can gain there and be below a rival
on rare classes at the same time; this table counts both sides, each method as it is, its dial at 0."""
FRONTIER = """\
Every method has a dial between rare and frequent classes. Here the dial of the extended mode is turned (its curve
interpolated linearly) until it has the accuracy on frequent classes that a rival has with its dial at 0, and the
accuracies on rare classes are compared, over all rows. *n/a ↑*: the rival's Frequent is above all that the dial
reaches; *n/a ↓*: below. The dial is turned on test rows, so this compares curves, not what one would have chosen;
there are no intervals. `repair bench figure frontier` draws the curves."""
ABLATION = """\
What the extended mode gains by shortlists of its own (coverage), and what by embeddings."""
TRIED = """\
**What was tried and dropped.** These figures come from scratch runs on twelve data sets with the test rows in
view, a single fit each. They are not from the committed harness, guided the design only, and cannot be checked
here. *Closure* is the share of the published error that is closed, as above.

- Columns made by leaving one row out, instead of cross-fitted ones: `auto` then saw gains where there were none, 8
  false alarms in 20 on data with nothing to gain.
- Shortlists chosen by offsets, scale and log-frequency weight learned on lists of 20 or 40, instead of one τ: of
  eight sets recall was within a point of τ's on five, 1 to 5 points lower on three.
- Context as a linear ridge on the candidates' shares, which this mode had before: on the base's list it closed 3.6 %,
  over all rows 5.6 %, in a full run of this harness. On 14 sets, ridge on all scores closed 4 % of the list's error,
  the kernel 7 to 9 %; with 256, 512 or 1,000 landmarks instead of 384 no more than noise (256 are taken, for speed).
- The same kernel on embeddings for the head, or residuals on embeddings: no better than the ridge beside neighbours.
- Offsets shrunk towards those of similar classes (a column of the mean residual of a class's kin): nothing beside
  context, mean closure 13.6 against 13.7 %.
- A prior variance of their own for each block of weights, or for each weight: 10.3 and 10.2 against 11.2 % without
  embeddings, 23.5 and 23.2 against 23.1 % with.
- The dial chosen by cross-validation for accuracy: no gain on ten sets.
- Nonlinear score terms (tanh, log-sigmoid, probability × log-frequency, entropy and margin as context): better
  likelihood, no better accuracy on average; mean closure 3.7 % with them, 6.4 % without.
- Pair terms with a diagonal penalty instead of a full ridge: closure 4 to 6 % against 7.4 %.
- Neighbours in score space: no better than the old context.
- On embeddings, Gaussian class models, prototypes and class-balanced votes: no better than ridge at several
  penalties. A logistic head closed 1.5 points more on six sets, at many times the cost."""
