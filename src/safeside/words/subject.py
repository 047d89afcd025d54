"""Who is counted, and where: the nouns of every sentence of a release."""

from __future__ import annotations

from typing import Literal

from safeside.records import Part, PlainText

Verb = Literal["visited", "belong"]


class Subject(Part, frozen=True, kw_only=True):
    """Who is counted (one of them, and many), what has them counted, and the noun for what is listed.

    The nouns stand in every sentence that a release says, in the language of the question; `verb` chooses
    between whole sentences, because "had you visited none of them" cannot be made of a noun: `visited` for
    people who were at a place at a time, `belong` for people who are in a group.

    Example
        >>> from safeside.words import Subject, Words
        >>> pupils = Subject(one="unvaccinated pupil", many="unvaccinated pupils", verb="belong",
        ...                  place="school", places="schools")
        >>> words = Words(subject=pupils)
        >>> print(words("answer.at-most", n=1), words("map.find"), sep="; ")
        At most 1 unvaccinated pupil; Find a school
    """

    one: PlainText = "known infected visitor"
    many: PlainText = "known infected visitors"
    verb: Verb = "visited"
    place: PlainText = "place"
    places: PlainText = "places"

    def nouns(self) -> dict[str, str]:
        """As sentences name them: each as it is, and with a capital at its beginning."""
        plain = {name: getattr(self, name) for name in ("one", "many", "place", "places")}
        return plain | {name.capitalize(): word[:1].upper() + word[1:] for name, word in plain.items()}
