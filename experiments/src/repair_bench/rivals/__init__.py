"""Rivals: methods by others that use the same information as ours, one small file per method or close family."""
