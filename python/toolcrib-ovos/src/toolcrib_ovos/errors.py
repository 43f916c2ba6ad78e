"""What can go wrong on the way to Toolcrib, each in a sentence for the model or the person who reads it."""


class Unreachable(Exception):
    """Toolcrib cannot be asked, or gave no answer."""


class Lost(Unreachable):
    """The connection ended while a request was under way: nobody knows how far it came."""


class TooSlow(Unreachable):
    """The answer did not come in time."""


class RemoteError(Exception):
    """Toolcrib answered with an error of the protocol."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code, self.message = code, message
        self.data = data if isinstance(data, dict) else {}
