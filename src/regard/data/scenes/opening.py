"""How a story begins: with its subject, or with a time, behind which the German verb still comes second."""

from regard.data.draw import Draw

TIMES = {
    "en": {
        "yesterday": "yesterday=time",
        "morning": "this=this morning=time",
        "monday": "on~time Monday=time",
        "week": "last=last week=time",
    },
    "fr": {
        "yesterday": "hier=time,",
        "morning": "ce=this matin=time,",
        "monday": "lundi=time,",
        "week": "la~time semaine=time dernière=last,",
    },
    "it": {
        "yesterday": "ieri=time",
        "morning": "stamattina=time=this",
        "monday": "lunedì=time",
        "week": "la~time settimana=time scorsa=last",
    },
    "de": {
        "yesterday": "gestern=time",
        "morning": "heute=this Morgen=time",
        "monday": "am~time Montag=time",
        "week": "letzte=last Woche=time",
    },
}
"""When something happened."""


def begin(language: str, opening: str, clause: str) -> str:
    """Return a marked clause with a time before it, or as it is; strokes set its German verb apart."""
    if not opening:
        return clause.replace(" | ", " ")
    subject, *verb = clause.split(" | ")
    return " ".join([TIMES[language][opening], *verb[:1], subject, *verb[1:]])


def draw_opening(chance: Draw) -> str:
    """Return a time to begin with, or none, which is as frequent as all times together."""
    return chance.among(list(TIMES["en"])) if chance.below(2) else ""
