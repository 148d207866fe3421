"""Reading data sets and splitting them into parts."""
