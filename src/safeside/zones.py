"""Time zones, by their names in the tz database."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from safeside.errors import BadQuestion
from safeside.names import did_you_mean


def find_zone(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadQuestion(
            f"There is no time zone {name!r}.",
            f"Name one of the tz database, such as Europe/Berlin.{did_you_mean(name, available_timezones())}",
        ) from None
