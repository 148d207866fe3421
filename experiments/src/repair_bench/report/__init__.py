"""Tables, figures and pages, made from the JSON files of finished results.

Nothing here computes a result, so a changed word in a table does not invalidate any cached result.
"""
