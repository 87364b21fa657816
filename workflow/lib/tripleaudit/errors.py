"""The one kind of error that a user can act on."""


class UserError(Exception):
    """Bad input: one sentence that says what is wrong, where, and what was expected.

    Commands and workflow jobs print the message on one line and exit with status 1, without a traceback; every
    other exception is a defect of the program and keeps its traceback.
    """
