"""Sentences and alignments of Scenes, written by hand."""

import pytest

from regard.data.scenes.ambiguous import Ambiguous
from regard.data.scenes.corpus import Pointer, Scenes, mentions, pointer
from regard.data.scenes.files import pharaoh
from regard.data.scenes.items import Item, sentence, text, text_words
from regard.data.scenes.judge import measures
from regard.data.scenes.lexicon import LANGUAGES, Referent
from regard.data.scenes.pronoun import It
from regard.data.scenes.scene import Arrangement, Box, Thing, arrangement, label, place, relation, scene
from regard.data.scenes.words import PHRASES, link

BALL = Thing("ball", "red", "small", Box(2, 20, 16, 34))
HOUSE = Thing("house", "blue", "enormous", Box(30, 14, 56, 40))
STAR = Thing("star", "green", "enormous", Box(34, 38, 60, 64))
TREE = Thing("tree", "white", "big", Box(30, 12, 50, 32))


def moved(thing: Thing, left: int, top: int) -> Thing:
    side = thing.box.right - thing.box.left
    return thing._replace(box=Box(left, top, left + side, top + side))


def said(item: Item) -> tuple[str, ...]:
    return tuple(text(language, sentence(item)) for language in LANGUAGES)


def aligned(item: Item, source: str, target: str) -> str:
    first, second = (text_words(language, sentence(item)) for language in (source, target))
    return pharaoh(link(tuple(word.keys for word in first), tuple(word.keys for word in second)))


def test_relations_follow_from_boxes() -> None:
    a = Box(10, 10, 24, 24)
    assert relation(a, Box(26, 12, 40, 26)) == "next"  # two pixels apart, side by side
    assert relation(a, Box(34, 12, 48, 26)) == "left"  # ten pixels apart
    assert relation(a, Box(26, 40, 40, 54)) == "left"  # close, but much lower
    assert relation(a, Box(14, 24, 28, 38)) == "on"
    assert relation(a, Box(14, 30, 28, 44)) == "above"
    assert relation(Box(14, 30, 28, 44), a) == "under"
    assert place(Box(0, 0, 14, 14)) == "top left"
    assert place(Box(25, 25, 39, 39)) == "middle"
    assert place(Box(50, 25, 64, 39)) == "right"


def test_a_scene_is_mentioned_from_left_to_right_and_labelled_by_its_noun() -> None:
    assert scene(HOUSE, BALL).objects == (BALL, HOUSE)
    assert label(scene(BALL)) == 0
    assert label(scene(HOUSE)) == 3
    with pytest.raises(ValueError, match="overlap"):
        scene(HOUSE, TREE)
    with pytest.raises(ValueError, match="one object"):
        label(scene(BALL, HOUSE))


def test_the_larger_thing_is_the_landmark() -> None:
    larger_first = scene(moved(HOUSE, 0, 20), moved(BALL, 40, 20))
    assert arrangement(scene(BALL, HOUSE)) == Arrangement("pair", ("left",))
    assert arrangement(larger_first) == Arrangement("pair", ("right",))


def test_one_object() -> None:
    assert said(scene(moved(BALL, 0, 0))) == (
        "There is a small red ball at the top left.",
        "Il y a un petit ballon rouge en haut à gauche.",
        "C'è una piccola palla rossa in alto a sinistra.",
        "Oben links gibt es einen kleinen roten Ball.",
    )
    assert said(scene(moved(TREE, 22, 22))) == (
        "The tree in the middle is big and white.",
        "L'arbre du milieu est grand et blanc.",
        "L'albero al centro è grande e bianco.",
        "Der Baum in der Mitte ist groß und weiß.",
    )
    assert said(scene(moved(STAR, 38, 38))) == (
        "We see an enormous green star at the bottom right.",
        "Nous voyons une énorme étoile verte en bas à droite.",
        "Vediamo un'enorme stella verde in basso a destra.",
        "Unten rechts sehen wir einen riesigen grünen Stern.",
    )


def test_two_objects() -> None:
    assert said(scene(BALL, HOUSE)) == (
        "The ball to the left of the enormous blue house is small and red.",
        "Le ballon à gauche de l'énorme maison bleue est petit et rouge.",
        "La palla a sinistra dell'enorme casa blu è piccola e rossa.",
        "Der Ball links von dem riesigen blauen Haus ist klein und rot.",
    )
    assert said(scene(moved(TREE, 0, 20), moved(BALL, 40, 22))) == (
        "To the right of the big white tree is a small red ball.",
        "À droite du grand arbre blanc se trouve un petit ballon rouge.",
        "A destra del grande albero bianco c'è una piccola palla rossa.",
        "Rechts von dem großen weißen Baum liegt ein kleiner roter Ball.",
    )
    assert said(scene(moved(BALL, 10, 20), moved(TREE, 26, 18))) == (
        "A small red ball is next to a big white tree.",
        "Un petit ballon rouge est à côté d'un grand arbre blanc.",
        "Una piccola palla rossa è accanto a un grande albero bianco.",
        "Ein kleiner roter Ball liegt neben einem großen weißen Baum.",
    )
    assert said(scene(moved(TREE, 10, 10), moved(STAR, 11, 30))) == (
        "The big white tree is on the enormous green star.",
        "Le grand arbre blanc est sur l'énorme étoile verte.",
        "Il grande albero bianco è sull'enorme stella verde.",
        "Der große weiße Baum steht auf dem riesigen grünen Stern.",
    )
    assert said(scene(moved(BALL, 10, 10), moved(TREE, 11, 40))) == (
        "A small red ball floats above the big white tree.",
        "Un petit ballon rouge flotte au-dessus du grand arbre blanc.",
        "Una piccola palla rossa fluttua sopra il grande albero bianco.",
        "Ein kleiner roter Ball schwebt über dem großen weißen Baum.",
    )
    assert said(scene(moved(BALL, 10, 40), moved(HOUSE, 8, 10))) == (
        "We see a small red ball under the enormous blue house.",
        "Nous voyons un petit ballon rouge sous l'énorme maison bleue.",
        "Vediamo una piccola palla rossa sotto l'enorme casa blu.",
        "Wir sehen einen kleinen roten Ball unter dem riesigen blauen Haus.",
    )


def test_three_objects() -> None:
    assert said(scene(moved(BALL, 0, 0), moved(TREE, 18, 40), moved(STAR, 38, 0))) == (
        "From left to right we see a small red ball, a big white tree and an enormous green star.",
        "De gauche à droite, nous voyons un petit ballon rouge, un grand arbre blanc et une énorme étoile verte.",
        "Da sinistra a destra vediamo una piccola palla rossa, un grande albero bianco e un'enorme stella verde.",
        (
            "Von links nach rechts sehen wir einen kleinen roten Ball, einen großen weißen Baum und "
            "einen riesigen grünen Stern."
        ),
    )
    assert said(scene(moved(BALL, 0, 16), moved(TREE, 34, 12), moved(STAR, 36, 38))) == (
        "A small red ball is to the left of a big white tree that floats above an enormous green star.",
        "Un petit ballon rouge est à gauche d'un grand arbre blanc qui flotte au-dessus d'une énorme étoile verte.",
        "Una piccola palla rossa è a sinistra di un grande albero bianco che fluttua sopra un'enorme stella verde.",
        (
            "Ein kleiner roter Ball liegt links von einem großen weißen Baum, "
            "der über einem riesigen grünen Stern schwebt."
        ),
    )
    assert said(scene(moved(STAR, 0, 0), moved(TREE, 8, 26), moved(BALL, 40, 10))) == (
        "The star that is on the big white tree and to the left of the small red ball is enormous and green.",
        "L'étoile qui est sur le grand arbre blanc et à gauche du petit ballon rouge est énorme et verte.",
        "La stella che è sul grande albero bianco e a sinistra della piccola palla rossa è enorme e verde.",
        "Der Stern, der auf dem großen weißen Baum und links von dem kleinen roten Ball liegt, ist riesig und grün.",
    )


FIT = It("fit", ("ball", "box"), ("big", "small"), means=0)
WIDE = It("cross", ("dog", "street"), ("tired", "wide"), means=1, opening="yesterday")
REACH = It("reach", ("ladder", "shelf"), ("short", "high"), means=1)
EAT = It("eat", ("duck", "egg"), ("ill", "salty"), means=0, opening="week")


def test_stories_with_it() -> None:
    assert said(FIT) == (
        "The ball did not fit into the box because it was too big.",
        "Le ballon ne rentrait pas dans la boîte parce qu'il était trop grand.",
        "La palla non entrava nella scatola perché era troppo grossa.",
        "Der Ball passte nicht in die Kiste, weil er zu groß war.",
    )
    assert said(FIT._replace(means=1)) == (
        "The ball did not fit into the box because it was too small.",
        "Le ballon ne rentrait pas dans la boîte parce qu'elle était trop petite.",
        "La palla non entrava nella scatola perché era troppo piccola.",
        "Der Ball passte nicht in die Kiste, weil sie zu klein war.",
    )
    assert said(WIDE) == (
        "Yesterday the dog did not cross the street because it was too wide.",
        "Hier, le chien n'a pas traversé la rue parce qu'elle était trop large.",
        "Ieri il cane non ha attraversato la strada perché era troppo larga.",
        "Gestern überquerte der Hund die Straße nicht, weil sie zu breit war.",
    )
    assert said(REACH) == (
        "The ladder did not reach the shelf because it was too high.",
        "L'échelle n'atteignait pas l'étagère parce qu'elle était trop haute.",
        "La scala non raggiungeva lo scaffale perché era troppo alto.",
        "Die Leiter reichte nicht bis zum Regal, weil es zu hoch war.",
    )
    assert said(EAT) == (
        "Last week the duck did not eat the egg because it was too ill.",
        "La semaine dernière, le canard n'a pas mangé l'œuf parce qu'il était trop malade.",
        "La settimana scorsa l'anatra non ha mangiato l'uovo perché era troppo malata.",
        "Letzte Woche fraß die Ente das Ei nicht, weil sie zu krank war.",
    )


BANK = Ambiguous("bank", "river", "stream", "girl", "tired", "first")
TRUNK = Ambiguous("trunk", "animal", "elephant", "woman", "curious", "monday")
SEAL = Ambiguous("seal", "animal", "rock", "king", "happy")
DATE = Ambiguous("date", "fruit", "peeled", "boy", "hungry")


def test_stories_with_an_ambiguous_noun() -> None:
    assert said(BANK) == (
        "After crossing the stream, the tired girl reached the bank.",
        "Après avoir traversé le ruisseau, la fille fatiguée a atteint la rive.",
        "Dopo aver attraversato il ruscello, la ragazza stanca ha raggiunto la riva.",
        "Nachdem das müde Mädchen den Bach überquert hatte, erreichte es das Ufer.",
    )
    assert said(BANK._replace(sense="money", decider="avenue", opening="")) == (
        "The tired girl reached the bank after crossing the avenue.",
        "La fille fatiguée a atteint la banque après avoir traversé l'avenue.",
        "La ragazza stanca ha raggiunto la banca dopo aver attraversato il viale.",
        "Das müde Mädchen erreichte die Bank, nachdem es die Allee überquert hatte.",
    )
    assert said(TRUNK) == (
        "On Monday the curious woman touched the trunk of the elephant.",
        "Lundi, la femme curieuse a touché la trompe de l'éléphant.",
        "Lunedì la donna curiosa ha toccato la proboscide dell'elefante.",
        "Am Montag berührte die neugierige Frau den Rüssel des Elefanten.",
    )
    assert said(SEAL) == (
        "The happy king saw a seal on the rock.",
        "Le roi heureux a vu un phoque sur le rocher.",
        "Il re contento ha visto una foca sullo scoglio.",
        "Der glückliche König sah eine Robbe auf dem Felsen.",
    )
    assert said(DATE) == (
        "The hungry boy peeled the date.",
        "Le garçon affamé a épluché la datte.",
        "Il ragazzo affamato ha sbucciato il dattero.",
        "Der hungrige Junge schälte die Dattel.",
    )


@pytest.mark.parametrize(
    ("language", "form", "noun", "expected"),
    [
        ("en", "a", "umbrella", "an umbrella"),
        ("fr", "du", "tree", "de l'arbre"),
        ("fr", "du", "boat", "du bateau"),
        ("fr", "du", "house", "de la maison"),
        ("fr", "le", "clock", "l'horloge"),
        ("fr", "d'un", "star", "d'une étoile"),
        ("it", "un", "car", "un'auto"),
        ("it", "un", "tree", "un albero"),
        ("it", "un", "boot", "uno stivale"),
        ("it", "del", "boot", "dello stivale"),
        ("it", "nel", "boot", "nello stivale"),
        ("it", "sul", "umbrella", "sull'ombrello"),
        ("it", "dal", "star", "dalla stella"),
        ("it", "un", "fish", "un pesce"),
        ("it", "il", "boat", "la barca"),
        ("it", "il", "rock", "lo scoglio"),
        ("it", "il", "drawer", "il cassetto"),
        ("de", "im", "house", "im Haus"),
        ("de", "im", "clock", "in der Uhr"),
        ("de", "zum", "ceiling", "zur Decke"),
        ("de", "zum", "tree", "zum Baum"),
        ("de", "des", "tree", "des Baums"),
        ("de", "dem", "heart", "dem Herzen"),
        ("de", "den", "heart", "das Herz"),
    ],
)
def test_articles_contract_and_elide(language: str, form: str, noun: str, expected: str) -> None:
    assert " ".join(part.text for part in PHRASES[language](form, Referent(noun))) == expected


def test_german_adjectives_end_as_the_article_leaves_room_for() -> None:
    def phrases(noun: str) -> list[str]:
        referent = Referent(noun, "green", "small")
        forms = ("der", "den", "dem", "ein", "einen", "einem")
        return [" ".join(part.text for part in PHRASES["de"](form, referent)) for form in forms]

    assert phrases("tree") == [
        "der kleine grüne Baum",
        "den kleinen grünen Baum",
        "dem kleinen grünen Baum",
        "ein kleiner grüner Baum",
        "einen kleinen grünen Baum",
        "einem kleinen grünen Baum",
    ]
    assert phrases("clock") == [
        "die kleine grüne Uhr",
        "die kleine grüne Uhr",
        "der kleinen grünen Uhr",
        "eine kleine grüne Uhr",
        "eine kleine grüne Uhr",
        "einer kleinen grünen Uhr",
    ]
    assert phrases("house") == [
        "das kleine grüne Haus",
        "das kleine grüne Haus",
        "dem kleinen grünen Haus",
        "ein kleines grünes Haus",
        "ein kleines grünes Haus",
        "einem kleinen grünen Haus",
    ]
    pink = PHRASES["de"]("ein", Referent("house", "pink", "big"))
    assert [part.text for part in pink] == ["ein", "großes", "rosa", "Haus"]  # rosa never changes


def test_alignments_worked_by_hand() -> None:
    # 0 A 1 small 2 red 3 ball 4 is 5 next 6 to 7 a 8 big 9 white 10 tree.
    # 0 Un 1 petit 2 ballon 3 rouge 4 est 5 à 6 côté 7 d'un 8 grand 9 arbre 10 blanc.
    next_to = scene(moved(BALL, 10, 20), moved(TREE, 26, 18))
    assert aligned(next_to, "en", "fr") == ("0p0 1-1 2-3 3-2 4-4 5p5 5-6 5p7 6p5 6p6 6p7 7p7 8-8 9-10 10-9")
    # 0 Ein 1 kleiner 2 roter 3 Ball 4 liegt 5 neben 6 einem 7 großen 8 weißen 9 Baum.
    assert aligned(next_to, "en", "de") == "0p0 1-1 2-2 3-3 4-4 5-5 6p5 7p6 8-7 9-8 10-9"
    # 0 Vediamo 1 un'enorme 2 stella 3 verde 4 in 5 basso 6 a 7 destra. (We is inside Vediamo, an inside un'enorme)
    # 0 We 1 see 2 an 3 enormous 4 green 5 star 6 at 7 the 8 bottom 9 right.
    assert aligned(scene(moved(STAR, 38, 38)), "en", "it") == (
        "0p0 1-0 2p1 3-1 4-3 5-2 6p4 6p5 7p4 7p5 8p4 8-5 9p6 9-7"
    )


def test_a_dropped_it_is_possibly_its_verb() -> None:
    # 0 The 1 ball 2 did 3 not 4 fit 5 into 6 the 7 box 8 because 9 it 10 was 11 too 12 big.
    # 0 La 1 palla 2 non 3 entrava 4 nella 5 scatola 6 perché 7 era 8 troppo 9 grossa.
    assert aligned(FIT, "en", "it") == "0p0 1-1 2p3 3-2 4-3 5p4 6p4 7-5 8-6 9p7 10-7 11-8 12-9"
    # 0 Le 1 ballon 2 ne 3 rentrait 4 pas 5 dans 6 la 7 boîte 8 parce 9 qu'il 10 était 11 trop 12 grand.
    assert aligned(FIT, "en", "fr") == "0p0 1-1 2p3 3p2 3-4 4-3 5-5 6p6 7-7 8-8 8p9 9-9 10-10 11-11 12-12"
    # 0 Der 1 Ball 2 passte 3 nicht 4 in 5 die 6 Kiste, 7 weil 8 er 9 zu 10 groß 11 war.
    assert aligned(FIT, "en", "de") == "0p0 1-1 2p2 3-3 4-2 5-4 6p5 7-6 8-7 9-8 10-11 11-9 12-10"


def test_pointers_lead_from_it_to_the_noun_and_from_the_ambiguous_noun_to_what_decides_it() -> None:
    def points(language: str, item: Item) -> Pointer | None:
        return pointer(item, text_words(language, sentence(item)))

    assert points("en", FIT) == Pointer("it", 9, 1)
    assert points("en", FIT._replace(means=1)) == Pointer("it", 9, 7)
    assert points("it", FIT) == Pointer("it", 7, 1)  # era
    assert points("de", WIDE) == Pointer("it", 8, 5)  # Gestern überquerte der Hund die Straße nicht, weil sie
    assert points("en", BANK) == Pointer("ambiguous", 9, 3)
    assert points("fr", DATE) == Pointer("ambiguous", 6, 4)  # Le garçon affamé a épluché la datte.
    assert points("en", scene(BALL)) is None


def test_mentions_are_the_words_of_each_object() -> None:
    found = scene(BALL, HOUSE)
    said = sentence(found)
    # The ball to the left of the enormous blue house is small and red.
    # Le ballon à gauche de l'énorme maison bleue est petit et rouge.
    assert mentions(found, text_words("en", said)) == [[(0, 2), (11, 12), (13, 14)], [(6, 10)]]
    assert mentions(found, text_words("fr", said)) == [[(0, 2), (9, 10), (11, 12)], [(5, 8)]]


def test_measures_read_the_word_that_shows_the_gender() -> None:
    def right(language: str, item: Item, output: str) -> float:
        return next(iter(measures(language, [item], [output]).values()))

    assert right("fr", FIT, "Le ballon ne rentrait pas dans la boîte parce qu'il était trop grand.") == 1
    assert right("fr", FIT, "Le ballon, parce qu'il était grand.") == 1  # nothing else is read
    assert right("fr", FIT, "Le ballon ne rentrait pas dans la boîte parce qu'elle était trop grande.") == 0
    assert right("fr", FIT, "parce qu'il parce qu'elle") == 0
    assert right("fr", FIT, "") == 0
    assert right("de", FIT, "Der Ball passte nicht in die Kiste, weil er zu groß war.") == 1
    assert right("de", FIT, "Der Ball passte nicht in die Kiste, weil sie zu groß war.") == 0
    assert right("it", WIDE, "Ieri il cane non ha attraversato la strada perché era troppo larga.") == 1
    assert right("it", WIDE, "Ieri il cane non ha attraversato la strada perché era troppo largo.") == 0
    assert right("it", WIDE, "Ieri il cane non ha attraversato la strada perché era troppo stanca.") == 0
    assert measures("it", [FIT], ["Palla e scatola sono femminili."]) == {}
    assert right("fr", BANK, "Il est à la rive.") == 1
    assert right("fr", BANK, "Il est à la banque.") == 0
    assert right("fr", BANK, "la rive, la banque") == 0
    assert right("de", DATE, "Er schälte die Dattel.") == 1
    assert measures("en", [FIT, BANK], ["", ""]) == {}


def test_a_corpus_says_what_is_wrong_with_its_description() -> None:
    with pytest.raises(ValueError, match="no language 'es'"):
        Scenes("en", "es")
    with pytest.raises(ValueError, match="both 'en'"):
        Scenes("en", "en")
    with pytest.raises(ValueError, match="-1"):
        Scenes(train=-1)
    with pytest.raises(ValueError, match="no split 'dev'"):
        Scenes().pairs("dev")
    with pytest.raises(ValueError, match="3 outputs"):
        Scenes(test=2).measures("test", ["", "", ""])
