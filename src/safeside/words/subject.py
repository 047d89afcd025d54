"""Who is counted, and where: the nouns of every sentence of a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from safeside import untrusted
from safeside.errors import BadQuestion
from safeside.records import Part, PlainText

_LONGEST: Final = 80
NOUNS: Final = ("one", "many", "place", "places")
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

    @classmethod
    def named(cls, noun: str | None, *, verb: Verb = "visited", place: str = "", places: str = "") -> Subject:
        """The subject with a noun given as "one/many", and with the usual words for whatever is left out.

        Example
            >>> from safeside.words import Subject
            >>> Subject.named("guest/guests").many
            'guests'
        """
        usual = cls()
        one, many = (usual.one, usual.many) if noun is None else _forms(noun)
        place, places = place or usual.place, places or usual.places
        return cls(one=one, many=many, verb=verb, place=place, places=places)

    def nouns(self, usual: Mapping[str, str]) -> dict[str, str]:
        """As sentences name them: each as it is, and with a capital at its beginning.

        A noun that was not named is the `usual` one of the language.
        """
        default = type(self)()
        named = {name: getattr(self, name) for name in NOUNS}
        plain = {name: usual[name] if one == getattr(default, name) else one for name, one in named.items()}
        return plain | {name.capitalize(): word[:1].upper() + word[1:] for name, word in plain.items()}


def _forms(noun: str) -> tuple[str, str]:
    one, _, many = (part.strip() for part in noun.partition("/"))
    if not one or not many or "/" in many or len(noun) > _LONGEST or untrusted.CONTROL.search(noun):
        raise BadQuestion(
            "The noun for those who are counted is not one of them and many, with a stroke between.",
            f'Give `noun="guest/guests"`, in plain text of at most {_LONGEST} characters.',
        )
    return one, many
