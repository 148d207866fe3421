"""The paper's own runs: its Table 1 from the score files of its authors, with our methods next to it."""
