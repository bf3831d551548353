"""What can go wrong in a way that a user can mend."""


class WorkbenchError(Exception):
    """A user's mistake or a missing thing: the message names the place, the value and the remedy."""


class Stopped(Exception):
    """The user asked a running step to stop; work done so far is on disk and can be resumed."""
