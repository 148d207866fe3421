"""Attributes that are computed on first access."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy"]

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801  (used as a decorator, like property)
    """A property computed once per object and kept in its ``__dict__``.

    `functools.cached_property` of Python 3.11 holds a lock that all objects share.  A process
    forked while another thread holds it would wait for ever.  This property has no lock: two
    threads may compute the same value at the same time, and either result can be used.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> "lazy[Value] | Value":
        if instance is None:
            return self
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value
