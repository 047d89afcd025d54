"""Every error safeside raises on purpose.

Each says what happened and what to do next, and never quotes private data::

    SafesideError
    ├── BadNumber            a number that cannot be an epsilon, delta, alpha, beta ...
    ├── BadCounts            counts that are negative, not whole, too large, empty ...
    ├── UnsafeFile           a pipe, device, link or endless file where a plain one should be
    ├── MadeByNewer          a record of a later version than this one reads
    ├── PrivacyError         a guarantee that would not hold
    │   ├── UnknownPolicy
    │   ├── NotMonotone      one-sided noise asked for a query that has no direction
    │   ├── NowhereElse      targets that cover everywhere a person could be
    │   └── SimulationOnly   seeded noise where a real release was asked for
    ├── InputError           visits, places or windows that cannot be counted for certain
    │   ├── BadFile
    │   │   └── LimitBroken  a record is beyond a limit that was fixed with the dataset
    │   ├── BadQuestion
    │   └── MissingExtra     an optional package is not installed
    ├── LedgerError          the account of what was spent
    │   ├── OverBudget
    │   ├── LedgerMissing
    │   ├── LedgerDamaged    the database is there and cannot be read as a ledger
    │   ├── LedgerTampered
    │   ├── LedgerForked
    │   ├── RequestConflict  a request id used again for another question
    │   ├── ClockBackwards
    │   └── StoreUnavailable
    └── ReleaseError         writing, signing or verifying what is published
        ├── CannotWrite
        ├── BadSignature
        └── BadRelease
"""

from __future__ import annotations

from fractions import Fraction


class SafesideError(Exception):
    """Base of every deliberate error: `what` happened and what to `do` next.

    Example
        >>> from safeside import AGeo, SafesideError
        >>> try:
        ...     AGeo(epsilon=0)
        ... except SafesideError as error:
        ...     print(error.what, error.do)
        epsilon is 0. Give epsilon above zero.
    """

    def __init__(self, what: str, do: str) -> None:
        super().__init__(what, do)
        self.what = what
        self.do = do

    def __str__(self) -> str:
        return f"{self.what}\nWhat to do: {self.do}"


class BadNumber(SafesideError, ValueError):
    """A value that is not an exact number in the range its role needs.

    Example
        >>> from safeside import BadNumber, plan
        >>> try:
        ...     plan(at_most=2, epsilon="nan")
        ... except BadNumber as error:
        ...     print(error.what)
        epsilon is not a number that can be read exactly.
    """


class BadCounts(SafesideError, ValueError):
    """Counts that cannot be counts of people.

    Example
        >>> from safeside import AGeo, BadCounts
        >>> try:
        ...     AGeo(epsilon=1).release([1.5])
        ... except BadCounts as error:
        ...     print(error.do)
        Give 64-bit integers, with 0 (not a blank) where nobody was counted.
    """


class UnsafeFile(SafesideError):
    """Something that is not a plain file of a size that is read, where others may write."""


class MadeByNewer(SafesideError):
    """A record of a later version than this one reads."""


class PrivacyError(SafesideError):
    """What was asked would not keep the promise it carries."""


class UnknownPolicy(PrivacyError, KeyError):
    """A proposition or policy name that nobody declared."""

    __str__ = SafesideError.__str__


class NotMonotone(PrivacyError):
    """One-sided noise was asked for a query that is neither decreasing nor increasing."""


class NowhereElse(PrivacyError):
    """The targets leave a person nowhere else to be, so the guarantee would be empty."""


class SimulationOnly(PrivacyError):
    """Something made with seeded noise was offered where only real noise is allowed."""


class InputError(SafesideError):
    """Input from which people cannot be counted for certain."""


class BadFile(InputError):
    """A visits or places file with rows that stop the work."""


class LimitBroken(BadFile):
    """A record is beyond a declared limit. By how much is not said: the curator must not choose by it."""


class BadQuestion(InputError):
    """A window, threshold, column or option that does not make a question."""


class MissingExtra(InputError):
    """An optional package is needed for this and is not installed."""


class LedgerError(SafesideError):
    """The ledger refuses, or cannot be trusted or reached."""


class OverBudget(LedgerError):
    """The release would spend more than is left."""

    def __init__(self, what: str, do: str, *, requested: Fraction, remaining: Fraction) -> None:
        super().__init__(what, do)
        self.requested = requested
        self.remaining = remaining
        self.difference = requested - remaining


class LedgerMissing(LedgerError):
    """No ledger or dataset of that name; `publish` never creates one."""


class LedgerDamaged(LedgerError):
    """There is a database, and it cannot be read as a ledger."""


class LedgerTampered(LedgerError):
    """The chain of events does not add up."""


class LedgerForked(LedgerError):
    """Releases exist that this ledger does not know: it was restored or copied."""


class RequestConflict(LedgerError):
    """The same request id came with another question."""


class ClockBackwards(LedgerError):
    """The clock is behind the last event of the ledger."""


class StoreUnavailable(LedgerError):
    """The database cannot be reached or went away."""


class ReleaseError(SafesideError):
    """A release that cannot be written, signed or verified."""


class CannotWrite(ReleaseError):
    """The output directory cannot be written."""


class BadSignature(ReleaseError):
    """The signature does not belong to this release and key."""


class BadRelease(ReleaseError):
    """A release whose files do not agree with its manifest or with themselves."""
