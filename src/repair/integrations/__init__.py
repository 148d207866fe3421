"""REPAIR inside other libraries, one module each.  Each needs the extra of the same name."""
