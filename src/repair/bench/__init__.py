"""Data sets and experiments: what the claims of this library are measured on."""
