"""The version number, in a separate module because modules that write it cannot import the package itself."""

__all__ = ["__version__"]

__version__ = "0.2.0"
