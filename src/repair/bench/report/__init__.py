"""What is made of finished results: tables, figures and a document, from the JSON alone.

Nothing here computes a result, so that a new word in a table makes no cached result stale.
"""
