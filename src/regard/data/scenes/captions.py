"""Captions: what each arrangement of a scene sounds like in four languages, marked as words.py reads it.

An arrangement has one sentence in each language, and no two arrangements share one. So every caption says all that the
others say, and each language follows from each.
"""

from regard.data.scenes.scene import ARRANGEMENTS, COLOURS, NOUNS, SIZES, Arrangement

PLACES = {
    "en": {
        "top left": "at~top the~top top=top left=left",
        "top": "at~top the~top top=top",
        "top right": "at~top the~top top=top right=right",
        "left": "on~left the~left left=left",
        "middle": "in~middle the~middle middle=middle",
        "right": "on~right the~right right=right",
        "bottom left": "at~bottom the~bottom bottom=bottom left=left",
        "bottom": "at~bottom the~bottom bottom=bottom",
        "bottom right": "at~bottom the~bottom bottom=bottom right=right",
    },
    "fr": {
        "top left": "en~top haut=top à~left gauche=left",
        "top": "en~top haut=top",
        "top right": "en~top haut=top à~right droite=right",
        "left": "de~left gauche=left",
        "middle": "du~middle milieu=middle",
        "right": "de~right droite=right",
        "bottom left": "en~bottom bas=bottom à~left gauche=left",
        "bottom": "en~bottom bas=bottom",
        "bottom right": "en~bottom bas=bottom à~right droite=right",
    },
    "it": {
        "top left": "in~top alto=top a~left sinistra=left",
        "top": "in~top alto=top",
        "top right": "in~top alto=top a~right destra=right",
        "left": "a~left sinistra=left",
        "middle": "al~middle centro=middle",
        "right": "a~right destra=right",
        "bottom left": "in~bottom basso=bottom a~left sinistra=left",
        "bottom": "in~bottom basso=bottom",
        "bottom right": "in~bottom basso=bottom a~right destra=right",
    },
    "de": {
        "top left": "oben=top links=left",
        "top": "oben=top",
        "top right": "oben=top rechts=right",
        "left": "links=left",
        "middle": "in~middle der~middle Mitte=middle",
        "right": "rechts=right",
        "bottom left": "unten=bottom links=left",
        "bottom": "unten=bottom",
        "bottom right": "unten=bottom rechts=right",
    },
}

THE = {
    "en": {
        "left": "to~left the~left left=left of~of {x:the}",
        "right": "to~right the~right right=right of~of {x:the}",
        "on": "on=on {x:the}",
        "above": "above=above {x:the}",
        "under": "under=under {x:the}",
    },
    "fr": {
        "left": "à~left gauche=left {x:du~of}",
        "right": "à~right droite=right {x:du~of}",
        "on": "sur=on {x:le}",
        "above": "au-dessus=above {x:du~above}",
        "under": "sous=under {x:le}",
    },
    "it": {
        "left": "a~left sinistra=left {x:del~of}",
        "right": "a~right destra=right {x:del~of}",
        "on": "{x:sul=on}",
        "above": "sopra=above {x:il}",
        "under": "sotto=under {x:il}",
    },
    "de": {
        "left": "links=left von~of {x:dem}",
        "right": "rechts=right von~of {x:dem}",
        "on": "auf=on {x:dem}",
        "above": "über=above {x:dem}",
        "under": "unter=under {x:dem}",
    },
}
"""How one thing stands to another, which is known."""

A = {
    "en": {
        "left": "to~left the~left left=left of~of {x:a}",
        "next": "next=next to~next {x:a}",
        "on": "on=on {x:a}",
        "above": "above=above {x:a}",
        "under": "under=under {x:a}",
    },
    "fr": {
        "left": "à~left gauche=left {x:d'un~of}",
        "next": "à~next côté=next {x:d'un~next}",
        "on": "sur=on {x:un}",
        "above": "au-dessus=above {x:d'un~above}",
        "under": "sous=under {x:un}",
    },
    "it": {
        "left": "a~left sinistra=left di~of {x:un}",
        "next": "accanto=next a~next {x:un}",
        "on": "su=on {x:un}",
        "above": "sopra=above {x:un}",
        "under": "sotto=under {x:un}",
    },
    "de": {
        "left": "links=left von~of {x:einem}",
        "next": "neben=next {x:einem}",
        "on": "auf=on {x:einem}",
        "above": "über=above {x:einem}",
        "under": "unter=under {x:einem}",
    },
}
"""The same, where the other thing is new."""

SENTENCES = {
    "en": {
        "place top": "there~exist is=exist {a:a} PLACE.",
        "place middle": "{a:the.noun} PLACE is=is {a:size} and=and {a:quality}.",
        "place bottom": "we=we see=see {a:a} PLACE.",
        "pair left": "{a:the.noun} THE-B is=is {a:size} and=and {a:quality}.",
        "pair right": "THE-A is=is {b:a}.",
        "pair next": "{a:a} is=is A-B.",
        "pair on": "{a:the} is=is THE-B.",
        "pair above": "{a:a} floats=is THE-B.",
        "pair under": "we=we see=see {a:a} THE-B.",
        "row": "from=from left=left to=to right=right we=we see=see {a:a}, {b:a} and=and {c:a}.",
        "chain": "{a:a} is=is A-B that=that VERB A-C.",
        "corner": "{a:the.noun} that=that VERB THE-B and=also THE-C is=is {a:size} and=and {a:quality}.",
    },
    "fr": {
        "place top": "il~exist y~exist a=exist {a:un} PLACE.",
        "place middle": "{a:le.noun} PLACE est=is {a:size} et=and {a:quality}.",
        "place bottom": "nous=we voyons=see {a:un} PLACE.",
        "pair left": "{a:le.noun} THE-B est=is {a:size} et=and {a:quality}.",
        "pair right": "THE-A se~is trouve=is {b:un}.",
        "pair next": "{a:un} est=is A-B.",
        "pair on": "{a:le} est=is THE-B.",
        "pair above": "{a:un} flotte=is THE-B.",
        "pair under": "nous=we voyons=see {a:un} THE-B.",
        "row": "de=from gauche=left à=to droite=right, nous=we voyons=see {a:un}, {b:un} et=and {c:un}.",
        "chain": "{a:un} est=is A-B qui=that VERB A-C.",
        "corner": "{a:le.noun} qui=that VERB THE-B et=also THE-C est=is {a:size} et=and {a:quality}.",
    },
    "it": {
        "place top": "c'è=exist {a:un} PLACE.",
        "place middle": "{a:il.noun} PLACE è=is {a:size} e=and {a:quality}.",
        "place bottom": "vediamo=see~we {a:un} PLACE.",
        "pair left": "{a:il.noun} THE-B è=is {a:size} e=and {a:quality}.",
        "pair right": "THE-A c'è=is {b:un}.",
        "pair next": "{a:un} è=is A-B.",
        "pair on": "{a:il} è=is THE-B.",
        "pair above": "{a:un} fluttua=is THE-B.",
        "pair under": "vediamo=see~we {a:un} THE-B.",
        "row": "da=from sinistra=left a=to destra=right vediamo=see~we {a:un}, {b:un} e=and {c:un}.",
        "chain": "{a:un} è=is A-B che=that VERB A-C.",
        "corner": "{a:il.noun} che=that VERB THE-B e=also THE-C è=is {a:size} e=and {a:quality}.",
    },
    "de": {
        "place top": "PLACE gibt=exist es~exist {a:einen}.",
        "place middle": "{a:der.noun} PLACE ist=is {a:size} und=and {a:quality}.",
        "place bottom": "PLACE sehen=see wir=we {a:einen}.",
        "pair left": "{a:der.noun} THE-B ist=is {a:size} und=and {a:quality}.",
        "pair right": "THE-A {b:liegt=is} {b:ein}.",
        "pair next": "{a:ein} {a:liegt=is} A-B.",
        "pair on": "{a:der} {a:liegt=is} THE-B.",
        "pair above": "{a:ein} schwebt=is THE-B.",
        "pair under": "wir=we sehen=see {a:einen} THE-B.",
        "row": "von=from links=left nach=to rechts=right sehen=see wir=we {a:einen}, {b:einen} und=and {c:einen}.",
        "chain": "{a:ein} {a:liegt=is} A-B, {b:dieser=that} A-C VERB.",
        "corner": "{a:der.noun}, {a:dieser=that} THE-B und=also THE-C VERB, ist=is {a:size} und=and {a:quality}.",
    },
}
"""The sentence of each arrangement. PLACE is a place; THE-B and A-B say how something stands to b, known or new; VERB
fits the relation."""

VERBS = {
    "en": ("is=be", "floats=be"),
    "fr": ("est=be", "flotte=be"),
    "it": ("è=be", "fluttua=be"),
    "de": ("{x:liegt=be}", "schwebt=be"),
}
"""What a thing does in a relative clause, and what it does above another."""


def sentence(language: str, arrangement: Arrangement) -> str:
    """Return the marked sentence of an arrangement; its referents are a, b, c in the order of mention."""
    kind, relations = arrangement
    first, last = (relations[0], relations[-1]) if relations else ("", "")
    row = first.split()[0] if first.split()[:1] in (["top"], ["bottom"]) else "middle"
    name = {"place": f"place {row}", "pair": f"pair {first}"}.get(kind, kind)
    places, the, a = PLACES[language], THE[language], A[language]
    parts = {
        "PLACE": places.get(first, ""),
        "THE-A": _to("a", the.get(first, "")),
        "THE-B": _to("b", the.get(first, "")),
        "THE-C": _to("c", the["left"]),
        "A-B": _to("b", a.get(first, "")),
        "A-C": _to("c", a.get(last, "")),
        "VERB": _to("b" if kind == "chain" else "a", VERBS[language][last == "above"]),
    }
    marked = SENTENCES[language][name]
    for part, text in parts.items():
        marked = marked.replace(part, text)
    return marked


def _to(letter: str, marked: str) -> str:
    return marked.replace("{x:", f"{{{letter}:")


def distinct(nouns: int = len(NOUNS), colours: int = len(COLOURS), sizes: int = len(SIZES)) -> int:
    """Return how many distinct captions there are with so many nouns, colours and sizes.

    The nouns of a scene differ. Two things of given sizes have one arrangement fewer than the list: the first is left
    of the second, or the second right of the first, but never both.
    """
    looks = colours * sizes
    one, two, three = (len(ARRANGEMENTS[count]) for count in (1, 2, 3))
    pairs = nouns * (nouns - 1) * looks**2
    return one * nouns * looks + (two - 1) * pairs + three * pairs * max(nouns - 2, 0) * looks
