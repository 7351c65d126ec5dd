"""What holds of every scene, every story and every pair of languages."""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product
from pathlib import Path

import pytest

from regard.data.draw import Draw
from regard.data.scenes import ambiguous, captions, files, items, pronoun
from regard.data.scenes.ambiguous import MOODS, PERSONS, PLOTS, SENSES, Ambiguous
from regard.data.scenes.captions import distinct
from regard.data.scenes.corpus import Scenes
from regard.data.scenes.held_out import Triple
from regard.data.scenes.items import Item, home, item, sentence, text, text_words
from regard.data.scenes.layout import boxes
from regard.data.scenes.lexicon import LANGUAGES, Referent
from regard.data.scenes.opening import TIMES
from regard.data.scenes.pronoun import FRAMES, It
from regard.data.scenes.scene import (
    ARRANGEMENTS,
    COLOURS,
    NOUNS,
    PLANE,
    SIDES,
    SIZES,
    Arrangement,
    Scene,
    Thing,
    arrangement,
    describe,
    overlap,
)
from regard.data.scenes.words import link, parse, spell

DIRECTIONS = list(permutations(LANGUAGES, 2))
SOME = [item(seed, split, index) for seed, split in ((1, "train"), (2, "test")) for index in range(800)]

ITS = [
    It(name, (first, second), couple, means, opening)
    for name, frame in FRAMES.items()
    for first, second, couple in product(frame.firsts, frame.seconds, frame.couples)
    if first != second
    for means, opening in product((0, 1), ("", "monday"))
]
BOTH = [
    Ambiguous(noun, sense, decider, person, mood, opening)
    for noun, senses in SENSES.items()
    for sense, deciders in senses.items()
    for decider, person, mood in product(deciders, PERSONS, MOODS)
    for opening in (("", *TIMES["en"]) if PLOTS[noun] in ("of", "do") else ("", "first"))
]


def said(found: Item) -> list[str]:
    return [text(language, sentence(found)) for language in LANGUAGES]


def referents(*triples: tuple[str, str, str]) -> tuple[tuple[str, Referent], ...]:
    return tuple(zip("abc", (Referent(*triple) for triple in triples), strict=False))


def test_boxes_stand_as_wanted_and_do_not_overlap() -> None:
    for count, wanted in ((count, wanted) for count, all_of_them in ARRANGEMENTS.items() for wanted in all_of_them):
        for sizes in product(SIZES, repeat=count):
            larger_first = SIDES[sizes[0]] > SIDES[sizes[-1]]
            if wanted == Arrangement("pair", ("left" if larger_first else "right",)):
                continue  # the larger thing is the landmark
            for seed in range(12):
                placed = boxes(wanted, sizes, Draw(f"{wanted}{sizes}{seed}"))
                assert [box.right - box.left for box in placed] == [SIDES[size] for size in sizes]
                assert [box.bottom - box.top for box in placed] == [SIDES[size] for size in sizes]
                assert all(0 <= side <= PLANE for box in placed for side in box)
                assert not any(overlap(a, b) for a, b in combinations(placed, 2))
                middles = [box.middle[0] for box in placed]
                assert all(b - a >= 3 for a, b in pairwise(middles))  # the order can be seen
                things = (Thing("ball", "red", size, box) for size, box in zip(sizes, placed, strict=True))
                assert arrangement(Scene(tuple(things))) == wanted


def test_there_are_more_than_a_million_captions() -> None:
    assert distinct() == 16 * 30 * 9 + 16 * 15 * 30**2 * 5 + 16 * 15 * 14 * 30**3 * 10 > 1_000_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_caption_of_a_small_grammar_is_different_and_counted(language: str) -> None:
    nouns, colours, sizes = ("star", "tree", "house"), ("red", "pink"), ("big", "enormous")
    captions_found: Counter[str] = Counter()
    for count, all_of_them in ARRANGEMENTS.items():
        for wanted, chosen in product(all_of_them, permutations(nouns, count)):
            for looks in product(product(colours, sizes), repeat=count):
                larger_first = SIDES[looks[0][1]] > SIDES[looks[-1][1]]
                if wanted == Arrangement("pair", ("left" if larger_first else "right",)):
                    continue
                known = referents(*((noun, *look) for noun, look in zip(chosen, looks, strict=True)))
                captions_found[spell(language, parse(captions.sentence(language, wanted)), known)] += 1
    assert set(captions_found.values()) == {1}
    assert len(captions_found) == distinct(nouns=3, colours=2, sizes=2)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_descriptions_sound_alike(language: str) -> None:
    """So the test above holds for all nouns, colours and sizes: every kind of sentence shows all of its objects."""
    alike = {("top left",), ("top right",), ("bottom left",), ("bottom right",), ("left",), ("right",)}
    for count, all_of_them in ARRANGEMENTS.items():
        for wanted in all_of_them:
            if (wanted.kind == "place" and wanted.relations in alike) or wanted.relations[1:] == ("above",):
                continue
            pattern = parse(captions.sentence(language, wanted))
            others = referents(("ball", "red", "small"), ("box", "red", "small"), ("hat", "red", "small"))[:count]
            for place in range(count):
                known = [dict(others) | {"abc"[place]: Referent(*look)} for look in product(NOUNS, COLOURS, SIZES)]
                assert len({spell(language, pattern, tuple(one.items())) for one in known}) == len(known)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_story_is_different_in_every_language(language: str) -> None:
    told: list[Item] = [*ITS, *BOTH]
    stories = [text(language, sentence(story)) for story in told]
    assert len(ITS) == 2 * 996
    assert len(set(stories)) == len(stories)


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_the_target_is_a_function_of_the_source(source: str, target: str) -> None:
    known: dict[str, str] = {}
    for seed in (1, 2):
        for pair in Scenes(source, target, seed, train=1000).pairs("train"):
            assert known.setdefault(pair.source, pair.target) == pair.target


@pytest.mark.parametrize(("source", "target"), list(combinations(LANGUAGES, 2)))
def test_every_word_is_linked_and_every_sure_link_is_possible(source: str, target: str) -> None:
    for found in SOME:
        first, second = (text_words(language, sentence(found)) for language in (source, target))
        links = link(tuple(word.keys for word in first), tuple(word.keys for word in second))
        back = link(tuple(word.keys for word in second), tuple(word.keys for word in first))
        assert {i for i, _ in links.possible} == set(range(len(first)))
        assert {j for _, j in links.possible} == set(range(len(second)))
        assert links.sure <= links.possible
        assert back.sure == {(j, i) for i, j in links.sure}
        assert back.possible == {(j, i) for i, j in links.possible}


def test_sure_links_of_captions_connect_translations_word_by_word() -> None:
    """A list by hand: whatever is surely linked to an English noun, colour or size is a form of its translation."""
    dictionary = {
        "star": "étoile stella stern",
        "tree": "arbre albero baum",
        "heart": "cœur cuore herz",
        "clock": "horloge orologio uhr",
        "white": "blanc bianc weiß",
        "red": "rouge ross rot",
        "small": "petit piccol klein",
        "enormous": "énorme enorme riesig",
    }
    checked: Counter[bool] = Counter()
    for found in SOME:
        words = [text_words(language, sentence(found)) for language in LANGUAGES]
        for other in words[1:] if isinstance(found, Scene) else ():
            links = link(tuple(word.keys for word in words[0]), tuple(word.keys for word in other))
            for i, j in links.sure:
                forms = dictionary.get(words[0][i].text.strip(".,").lower(), "").split()
                checked[bool(forms)] += 1
                assert not forms or any(form in other[j].text.lower() for form in forms)
    assert checked[True] > 500


def test_texts_are_words_with_single_spaces_a_capital_and_a_full_stop() -> None:
    for line in (line for found in SOME for line in said(found)):
        assert unicodedata.is_normalized("NFC", line)
        assert re.fullmatch(r"[\w'-]+,?( [\w'-]+,?)*\.", line)
        assert line[0].isupper()


def test_words_spell_the_text() -> None:
    for found in SOME:
        for language, expected in zip(LANGUAGES, said(found), strict=True):
            assert " ".join(word.text for word in text_words(language, sentence(found))) == expected


# Agreement, by rules that are not those of the grammar: genders by hand, and what may stand around a noun.

FRENCH = {
    "m": "ballon arbre bateau parapluie poisson chapeau cœur",
    "f": "boîte étoile maison voiture clé fleur horloge échelle botte",
}
ITALIAN = {
    "m": "albero ombrello fiore pesce cappello cuore orologio stivale",
    "f": "palla scatola stella casa barca auto chiave scala",
}
GERMAN = {
    "m": "Ball Stern Baum Regenschirm Schlüssel Fisch Hut Stiefel",
    "f": "Kiste Blume Uhr Leiter",
    "n": "Haus Boot Auto Herz Herzen",
}
FRENCH_ADJECTIVES = {
    "m": "petit grand énorme rouge bleu vert jaune noir blanc gris marron violet rose",
    "f": "petite grande énorme rouge bleue verte jaune noire blanche grise marron violette rose",
}
ITALIAN_ADJECTIVES = {
    "m": "piccolo grande enorme rosso blu verde giallo nero bianco grigio marrone viola rosa",
    "f": "piccola grande enorme rossa blu verde gialla nera bianca grigia marrone viola rosa",
}


def gender(genders: dict[str, str], word: str) -> str:
    return next((gender for gender, nouns in genders.items() if word in nouns.split()), "")


@pytest.mark.parametrize(
    ("language", "nouns", "adjectives", "articles"),
    [
        ("fr", FRENCH, FRENCH_ADJECTIVES, {"m": "un le du d'un", "f": "une la d'une"}),
        ("it", ITALIAN, ITALIAN_ADJECTIVES, {"m": "un uno il lo del dello sul sullo", "f": "una la della sulla"}),
    ],
)
def test_french_and_italian_words_agree(
    language: str, nouns: dict[str, str], adjectives: dict[str, str], articles: dict[str, str]
) -> None:
    """An adjective has the gender of the noun that it stands by, or, behind *est* or *è*, of the first noun."""
    all_adjectives = set(f"{adjectives['m']} {adjectives['f']}".split())
    all_articles = set(f"{articles['m']} {articles['f']}".split())
    for found in SOME:
        if not isinstance(found, Scene):
            continue
        line = text(language, sentence(found))
        apart = re.sub(r"(\w+')(?=\w)", r"\1 ", line.rstrip(".").lower().replace("d'un", "dun"))
        words = apart.replace("dun", "d'un").replace(",", "").split()
        subject = next(gender(nouns, word) for word in words if gender(nouns, word))
        copula = "est" if language == "fr" else "è"
        for i, word in enumerate(words):
            if word in all_adjectives:
                predicate = copula in words and words[i - 1] in (copula, "et", "e")
                near = [gender(nouns, words[at]) for at in (i - 1, i + 1) if 0 <= at < len(words)]
                noun = subject if predicate and not any(near) else next(filter(None, near), "")
                assert noun, line
                assert word in adjectives[noun].split(), line
            if word in all_articles:
                after = next((gender(nouns, later) for later in words[i + 1 : i + 3] if gender(nouns, later)), "")
                assert not after or word in articles[after].split(), line


def test_elided_and_full_articles_stand_before_the_right_sounds() -> None:
    vowels = "aeiouyàâäèéêëîïôöùûüœ"
    for found in SOME:
        french, italian = text("fr", sentence(found)).lower(), text("it", sentence(found)).lower()
        # A mute h counts as a vowel in French.
        assert not re.search(rf"\b(le|la|de|ne|que) [{vowels}h]", french), french
        assert all(match[1] in vowels + "h" for match in re.finditer(r"\b(?:[ldn]|qu)'(.)", french)), french
        assert not re.search(r"\b(de le|de les|à le|à les)\b", french), french
        impure = r"(?:z|s[^aeiou\W])"
        assert not re.search(rf"\b(lo|la|dello|della|una|uno|nella|nello|sulla|sullo|dalla) [{vowels}]", italian), (
            italian
        )
        assert not re.search(rf"\b(il|un|del|al|dal|nel|sul) {impure}", italian), italian
        assert not re.search(rf"\b(il|del|al|dal|nel|sul) [{vowels}]", italian), italian
        assert all(re.match(impure, match[1]) for match in re.finditer(r"\b(?:d?e?llo|uno|nello|sullo) (\w+)", italian))
        assert not re.search(r"\b(di|a|da|in|su) (il|lo|la|l'|le)\b", italian), italian


CASES = {
    # Behind each article: nominative, accusative, dative; the endings of article and adjective by gender.
    ("nominative", "m"): [("der", "e"), ("ein", "er")],
    ("nominative", "f"): [("die", "e"), ("eine", "e")],
    ("nominative", "n"): [("das", "e"), ("ein", "es")],
    ("accusative", "m"): [("den", "en"), ("einen", "en")],
    ("accusative", "f"): [("die", "e"), ("eine", "e")],
    ("accusative", "n"): [("das", "e"), ("ein", "es")],
    ("dative", "m"): [("dem", "en"), ("einem", "en")],
    ("dative", "f"): [("der", "en"), ("einer", "en")],
    ("dative", "n"): [("dem", "en"), ("einem", "en")],
}


def test_german_articles_and_adjectives_show_gender_and_case() -> None:
    stems = ["klein", "groß", "riesig", "rot", "blau", "grün", "gelb", "schwarz", "weiß", "grau", "braun", "violett"]
    articles = {article for forms in CASES.values() for article, _ in forms}
    phrase = re.compile(rf"(\S+ )?\b({'|'.join(sorted(articles))}) ((?:[a-zäöüß]+ ){{0,2}})([A-ZÄÖÜ]\w+)")
    checked = 0
    for found in SOME:
        line = text("de", sentence(found)).rstrip(".")
        if not isinstance(found, Scene):
            continue
        line = re.sub(r"^(Der|Die|Das|Ein|Eine)\b", lambda match: match[0].lower(), line)
        for before, article, adjectives, noun in phrase.findall(line):
            if noun == "Mitte":
                continue
            dative = before.strip() in ("von", "neben", "auf", "über", "unter")
            seen = re.search(r"\b(sehen|gibt)\b", line) and not dative
            case = "dative" if dative else "accusative" if seen else "nominative"
            endings = dict(CASES[case, gender(GERMAN, noun)])
            assert article in endings, line
            for adjective in adjectives.split():
                assert adjective == "rosa" or adjective in [stem + endings[article] for stem in stems], line
            assert (noun == "Herzen") == (case == "dative" and noun.startswith("Herz")), line
            checked += 1
        for noun, relative in re.findall(r"(\w+), (der|die|das)\b", line):
            assert relative == {"m": "der", "f": "die", "n": "das"}[gender(GERMAN, noun)], line
    assert checked > 1500


@pytest.mark.parametrize(
    ("language", "before", "words"),
    [
        ("fr", "parce", {"m": "qu'il", "f": "qu'elle"}),
        ("de", "weil", {"m": "er", "f": "sie", "n": "es"}),
    ],
)
def test_the_pronoun_has_the_gender_of_the_noun_that_it_means(
    language: str, before: str, words: dict[str, str]
) -> None:
    """Its gender is read off the article that the same noun has elsewhere in the sentence, where that shows one."""
    articles = {"fr": {"le": "m", "la": "f"}, "de": {"der": "m", "das": "n", "den": "m", "dem": "m"}}[language]
    checked = 0
    for story in ITS:
        line = text(language, sentence(story))
        main, because = line.split(f"{before} ")
        pronoun_shown = because.split()[0]
        names = [items.text_words(language, sentence(story))[at].text.strip(",") for at in nouns_at(language, story)]
        article = re.search(rf"(\w+) {names[story.means]}\b", main)
        shown = articles.get(article[1].lower()) if article else None
        if shown:
            assert pronoun_shown == words[shown], line
            checked += 1
    assert checked > 500


def nouns_at(language: str, story: It) -> list[int]:
    words = text_words(language, sentence(story))
    return [next(i for i, word in enumerate(words) if f"{letter}.noun" in word.keys.means) for letter in "xy"]


def test_italian_adjectives_of_stories_show_gender() -> None:
    for story in ITS:
        adjective = text("it", sentence(story)).rstrip(".").split()[-1]
        assert adjective[-1] in "ao", adjective


# Held-out combinations


def triples(found: Scene) -> set[Triple]:
    return {(thing.size, thing.colour, thing.noun) for thing in found.objects}


def test_a_tenth_of_the_triples_is_for_test_and_a_twentieth_for_validation() -> None:
    share = Counter(home().values())
    assert share == {"train": 408, "test": 48, "val": 24}
    pairs = {pair for triple, split in home().items() if split == "train" for pair in combinations(triple, 2)}
    assert all(pair in pairs for triple in home() for pair in combinations(triple, 2))


@pytest.mark.parametrize("seed", [1, 7])
def test_captions_of_a_split_hold_its_own_triples_and_train_none_of_the_others(seed: int) -> None:
    for split in ("train", "val", "test"):
        for found in Scenes(seed=seed, train=1000, val=500, test=500).scenes(split):
            homes = {home()[triple] for triple in triples(found)}
            assert homes == {"train"} if split == "train" else split in homes <= {"train", split}


def test_stories_hold_out_nouns_with_adjectives() -> None:
    corpus = Scenes(train=10_000, val=2000, test=2000)
    its, others = {}, {}
    for split in corpus.splits():
        stories = list(corpus.items(split))
        its[split] = {(*one.nouns, one.adjective) for one in stories if isinstance(one, It)}
        others[split] = {(one.person, one.noun, one.decider, one.mood) for one in stories if isinstance(one, Ambiguous)}
        assert {one.frame for one in stories if isinstance(one, It)} == set(FRAMES)
        assert {(one.noun, one.sense) for one in stories if isinstance(one, Ambiguous)} == {
            (noun, sense) for noun, senses in SENSES.items() for sense in senses
        }
    for found in (its, others):
        assert not any(found[one] & found[other] for one, other in combinations(found, 2))


def test_every_pair_within_a_held_out_story_occurs_in_training() -> None:
    for table in (pronoun.choices(), ambiguous.choices()):
        kept = [triple for (split, *_), triples in table.items() if split == "train" for triple in triples]
        held = [triple for (split, *_), triples in table.items() if split != "train" for triple in triples]
        pairs = {pair for triple in kept for pair in combinations(enumerate(triple), 2)}
        assert all(pair in pairs for triple in held for pair in combinations(enumerate(triple), 2))
        assert 0.14 < len(held) / (len(held) + len(kept)) <= 0.15


@pytest.mark.parametrize("source", LANGUAGES)
def test_no_sentence_of_val_or_test_occurs_in_training(source: str) -> None:
    corpus = Scenes(source, "de" if source != "de" else "en", train=6000)
    seen = {pair.source for pair in corpus.pairs("train")}
    assert not seen & {pair.source for split in ("val", "test") for pair in corpus.pairs(split)}


def test_eight_of_ten_examples_are_captions_and_one_is_each_kind_of_story() -> None:
    kinds = Counter(type(found).__name__ for found in Scenes(test=1000).items("test"))
    assert kinds == {"Scene": 800, "It": 100, "Ambiguous": 100}


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_both_answers_are_equally_often_right_also_where_it_matters(split: str) -> None:
    stories = [one for one in Scenes(train=3000).items(split) if isinstance(one, It)]
    assert Counter(one.means for one in stories) == {0: len(stories) / 2, 1: len(stories) / 2}
    for language in ("fr", "it", "de"):
        corpus = Scenes("en", language, train=3000)
        pairs = corpus.pairs(split)
        # Answer every story as if *it* were its first noun: right exactly half the time.
        first = [
            text(language, sentence(one._replace(means=0))) if isinstance(one, It) else pair.target
            for one, pair in zip(corpus.items(split), pairs, strict=True)
        ]
        assert corpus.measures(split, first) == {"it": 0.5, "ambiguous": 1.0}
        assert corpus.measures(split, [pair.target for pair in pairs]) == {"it": 1.0, "ambiguous": 1.0}


def test_an_example_is_a_function_of_seed_split_and_index() -> None:
    corpus = Scenes("en", "it", seed=3, train=300, val=100, test=100)
    longer = replace(corpus, train=400)
    assert corpus == Scenes("en", "it", seed=3, train=300, val=100, test=100)
    assert longer.pairs("train")[:300] == corpus.pairs("train") == corpus.pairs("train")
    assert corpus.pairs("test") != replace(corpus, seed=4).pairs("test")
    assert corpus.pairs("test") != corpus.pairs("val")
    assert [pair.source for pair in corpus.pairs("val")] == [
        pair.source for pair in replace(corpus, target="de").pairs("val")
    ]
    assert corpus.describe() == corpus.describe()
    assert corpus.describe()["fingerprint"] != replace(corpus, seed=4).describe()["fingerprint"]


def test_alignments_count_the_words_of_the_pairs() -> None:
    corpus = Scenes("fr", "de", test=300)
    for pair, links in zip(corpus.pairs("test"), corpus.alignments("test"), strict=True):
        assert max(i for i, _ in links.possible) == len(pair.source.split(" ")) - 1
        assert max(j for _, j in links.possible) == len(pair.target.split(" ")) - 1


def test_pointers_point_to_the_words_that_they_name() -> None:
    corpus = Scenes(test=500)
    for found, pair, points in zip(corpus.items("test"), corpus.pairs("test"), corpus.pointers("test"), strict=True):
        words = [word.strip(".,") for word in pair.source.split()]
        if isinstance(found, It):
            assert points
            assert (words[points.word], words[points.points_to]) == ("it", found.nouns[found.means])
        elif isinstance(found, Ambiguous):
            assert points
            assert (words[points.word], words[points.points_to]) == (found.noun, found.decider)
        else:
            assert points is None


def test_a_description_says_what_a_picture_needs() -> None:
    for found in Scenes(test=200).scenes("test"):
        described = json.loads(json.dumps(describe(found)))
        assert [tuple(one["box"]) for one in described["objects"]] == [thing.box for thing in found.objects]
        assert ("label" in described) == (len(found.objects) == 1)
        assert Arrangement(described["arrangement"], tuple(described["relations"])) == arrangement(found)


# On disk


def test_files_say_what_the_corpus_says(tmp_path: Path) -> None:
    written = files.write(tmp_path / "out", train=50, val=20, test=30)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in written}
    assert len(written) == 3 * (4 + 6 + 1)
    corpus = Scenes("fr", "de", train=50, val=20, test=30)

    def lines(name: str) -> list[str]:
        return (tmp_path / "out" / name).read_text(encoding="utf-8").splitlines()

    assert [*zip(lines("test.fr"), lines("test.de"), strict=True)] == corpus.pairs("test")
    for line, links in zip(lines("test.fr-de.align"), corpus.alignments("test"), strict=True):
        assert {tuple(map(int, re.split("[-p]", one))) for one in line.split()} == links.possible
        assert {tuple(map(int, one.split("-"))) for one in line.split() if "-" in one} == links.sure
    for line, found, record in zip(lines("test.en"), corpus.items("test"), lines("test.jsonl"), strict=True):
        meant, words = json.loads(record), line.split()
        if isinstance(found, Scene):
            for thing, spans in zip(found.objects, meant["mentions"]["en"], strict=True):
                mention = " ".join(" ".join(words[start:end]) for start, end in spans).replace(".", "").replace(",", "")
                assert {thing.noun, thing.colour, thing.size} <= set(mention.split())
        elif isinstance(found, It):
            assert words[meant["it_and_noun"]["en"][0]] == "it"
            assert meant["it"] == found.nouns[found.means]
        else:
            assert words[meant["noun_and_decider"]["en"][0]].strip(".,") == meant["noun"]


def test_files_appear_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "test.en"
    kept.write_text("mine\n")
    with pytest.raises(ValueError, match=r"already holds test\.en"):
        files.write(tmp_path, train=10, val=10, test=10)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(tmp_path, train=10, val=10, test=10, overwrite=True)
    assert [*tmp_path.iterdir()] == [kept]
    assert kept.read_text() == "mine\n"
    with pytest.raises(ValueError, match="no language 'xx'"):
        files.write(tmp_path / "new", languages=("en", "xx"))
    assert not (tmp_path / "new").exists()
