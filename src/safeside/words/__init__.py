"""The one catalogue of sentences that readers of a release meet, and the nouns that they speak of."""

from safeside.words.catalogue import LANGUAGES, Language, Sentence, Words, length, said
from safeside.words.subject import Subject

__all__ = ["LANGUAGES", "Language", "Sentence", "Subject", "Words", "length", "said"]
