"""Errors of requests, and the wording of remedies for HTTP clients."""

from repair.errors import RemediableError

__all__ = ["RequestError", "in_fields"]

#: Remedies in terms of the fields of a request, by their code.
SENTENCES = {
    "pass-embeddings": "add the field 'embeddings' with one vector per row",
    "pass-all-scores": "send 'scores' of all classes instead of candidates",
    "fit-again": "this server's model cannot use a dial",
}


class RequestError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What is wrong, and what to do about it.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def in_fields(error: RemediableError) -> str:
    """Return an error's message with its remedy in terms of the fields of a request.

    Examples
    --------
    >>> from repair.errors import InputError, Remedy
    >>> from repair.serving.errors import in_fields
    >>> in_fields(InputError("this model reads embeddings", Remedy("pass-embeddings", "pass embeddings=…")))
    "this model reads embeddings; add the field 'embeddings' with one vector per row"
    """
    if error.remedy is None or error.remedy.code not in SENTENCES:
        return str(error)
    return f"{error.problem}; {SENTENCES[error.remedy.code]}"
