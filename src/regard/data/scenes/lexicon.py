"""The words of the four languages: nouns with their gender, adjectives with their forms, verbs that decide a *date*.

A row begins with the name of a meaning, which is the English word; after a stroke stands which of its meanings.
Behind the gender of a German noun stand its genitive, where a sentence asks for it, and its dative, where it is
another word.
"""

from functools import cache
from typing import NamedTuple

LANGUAGES = ("en", "fr", "it", "de")

NOUNS = """
ball          ball       | ballon m         | palla f        | Ball m
box           box        | boîte f          | scatola f      | Kiste f
star          star       | étoile f         | stella f       | Stern m
house         house      | maison f         | casa f         | Haus n
tree          tree       | arbre m          | albero m       | Baum m Baums
boat          boat       | bateau m         | barca f        | Boot n
car           car        | voiture f        | auto f         | Auto n Autos
umbrella      umbrella   | parapluie m      | ombrello m     | Regenschirm m
key           key        | clé f            | chiave f       | Schlüssel m
flower        flower     | fleur f          | fiore m        | Blume f
fish          fish       | poisson m        | pesce m        | Fisch m
hat           hat        | chapeau m        | cappello m     | Hut m
heart         heart      | cœur m           | cuore m        | Herz n Herzens Herzen
clock         clock      | horloge f        | orologio m     | Uhr f
ladder        ladder     | échelle f        | scala f        | Leiter f
boot          boot       | botte f          | stivale m      | Stiefel m

guitar        guitar     | guitare f        | chitarra f     | Gitarre f
lamp          lamp       | lampe f          | lampada f      | Lampe f
book          book       | livre m          | libro m        | Buch n
trophy        trophy     | trophée m        | trofeo m       | Pokal m
suitcase      suitcase   | valise f         | valigia f      | Koffer m
bag           bag        | sac m            | borsa f        | Tasche f
drawer        drawer     | tiroir m         | cassetto m     | Schublade f
wardrobe      wardrobe   | armoire f        | armadio m      | Schrank m
basket        basket     | panier m         | cesto m        | Korb m

sofa          sofa       | canapé m         | divano m       | Sofa n
table         table      | table f          | tavolo m       | Tisch m
bed           bed        | lit m            | letto m        | Bett n
piano         piano      | piano m          | pianoforte m   | Klavier n
armchair      armchair   | fauteuil m       | poltrona f     | Sessel m
statue        statue     | statue f         | statua f       | Statue f
door          door       | porte f          | porta f        | Tür f
window        window     | fenêtre f        | finestra f     | Fenster n
gate          gate       | portail m        | cancello m     | Tor n
corridor      corridor   | couloir m        | corridoio m    | Flur m
tunnel        tunnel     | tunnel m         | tunnel m       | Tunnel m

rope          rope       | corde f          | corda f        | Seil n
cable         cable      | câble m          | cavo m         | Kabel n
crane         crane      | grue f           | gru f          | Kran m
stick         stick      | bâton m          | bastone m      | Stock m
chain         chain      | chaîne f         | catena f       | Kette f
roof          roof       | toit m           | tetto m        | Dach n
branch        branch     | branche f        | ramo m         | Ast m
shelf         shelf      | étagère f        | scaffale m     | Regal n
balcony       balcony    | balcon m         | balcone m      | Balkon m
ceiling       ceiling    | plafond m        | soffitto m     | Decke f

animal        animal     | animal m         | animale m      | Tier n
dog           dog        | chien m          | cane m         | Hund m
cat           cat        | chat m           | gatto m        | Katze f
horse         horse      | cheval m         | cavallo m      | Pferd n
cow           cow        | vache f          | mucca f        | Kuh f
duck          duck       | canard m         | anatra f       | Ente f
turtle        turtle     | tortue f         | tartaruga f    | Schildkröte f
mouse         mouse      | souris f         | topo m         | Maus f
street        street     | rue f            | strada f       | Straße f
river         river      | fleuve m         | fiume m        | Fluss m
field         field      | champ m          | campo m        | Feld n
square        square     | place f          | piazza f       | Platz m
stream        stream     | ruisseau m       | ruscello m     | Bach m
motorway      motorway   | autoroute f      | autostrada f   | Autobahn f

truck         truck      | camion m         | camion m       | Lastwagen m
bus           bus        | bus m            | autobus m      | Bus m
bicycle       bicycle    | vélo m           | bicicletta f   | Fahrrad n
tractor       tractor    | tracteur m       | trattore m     | Traktor m
motorcycle    motorcycle | moto f           | moto f         | Motorrad n

bread         bread      | pain m           | pane m         | Brot n
soup          soup       | soupe f          | zuppa f        | Suppe f
cheese        cheese     | fromage m        | formaggio m    | Käse m
cake          cake       | gâteau m         | torta f        | Kuchen m
meat          meat       | viande f         | carne f        | Fleisch n
egg           egg        | œuf m            | uovo m         | Ei n

man           man        | homme m          | uomo m         | Mann m
woman         woman      | femme f          | donna f        | Frau f
boy           boy        | garçon m         | ragazzo m      | Junge m
girl          girl       | fille f          | ragazza f      | Mädchen n
king          king       | roi m            | re m           | König m
queen         queen      | reine f          | regina f       | Königin f

bank/river    bank       | rive f           | riva f         | Ufer n
bank/money    bank       | banque f         | banca f        | Bank f
bat/animal    bat        | chauve-souris f  | pipistrello m  | Fledermaus f
bat/sport     bat        | batte f          | mazza f        | Schläger m
seal/animal   seal       | phoque m         | foca f         | Robbe f
seal/stamp    seal       | sceau m          | sigillo m      | Siegel n
match/fire    match      | allumette f      | fiammifero m   | Streichholz n
match/sport   match      | match m          | partita f      | Spiel n
pipe/smoke    pipe       | pipe f           | pipa f         | Pfeife f
pipe/water    pipe       | tuyau m          | tubo m         | Rohr n
spring/coil   spring     | ressort m        | molla f        | Feder f
spring/water  spring     | source f         | sorgente f     | Quelle f
trunk/animal  trunk      | trompe f         | proboscide f   | Rüssel m
trunk/tree    trunk      | tronc m          | tronco m       | Stamm m
trunk/car     trunk      | coffre m         | bagagliaio m   | Kofferraum m
date/fruit    date       | datte f          | dattero m      | Dattel f
date/day      date       | date f           | data f         | Datum n

lake          lake       | lac m            | lago m         | See m
avenue        avenue     | avenue f         | viale m        | Allee f
cave          cave       | grotte f         | grotta f       | Höhle f
barn          barn       | grange f         | fienile m      | Scheune f
forest        forest     | forêt f          | foresta f      | Wald m
stadium       stadium    | stade m          | stadio m       | Stadion n
gym           gym        | gymnase m        | palestra f     | Turnhalle f
locker        locker     | casier m         | armadietto m   | Spind m
island        island     | île f            | isola f        | Insel f
rock          rock       | rocher m         | scoglio m      | Felsen m
ice           ice        | glace f          | ghiaccio m     | Eis n
letter        letter     | lettre f         | lettera f      | Brief m
envelope      envelope   | enveloppe f      | busta f        | Umschlag m
contract      contract   | contrat m        | contratto m    | Vertrag m
kitchen       kitchen    | cuisine f        | cucina f       | Küche f
fireplace     fireplace  | cheminée f       | camino m       | Kamin m
park          park       | parc m           | parco m        | Park m
ashtray       ashtray    | cendrier m       | posacenere m   | Aschenbecher m
pocket        pocket     | poche f          | tasca f        | Hosentasche f
jacket        jacket     | veste f          | giacca f       | Jacke f
cellar        cellar     | cave f           | cantina f      | Keller m
wall          wall       | mur m            | muro m         | Wand f
mattress      mattress   | matelas m        | materasso m    | Matratze f
machine       machine    | machine f        | macchina f     | Maschine f
valley        valley     | vallée f         | valle f        | Tal n
desert        desert     | désert m         | deserto m      | Wüste f
elephant      elephant   | éléphant m       | elefante m     | Elefant m Elefanten
mammoth       mammoth    | mammouth m       | mammut m       | Mammut n Mammuts
tapir         tapir      | tapir m          | tapiro m       | Tapir m Tapirs
oak           oak        | chêne m          | quercia f      | Eiche f
fir           fir        | sapin m          | abete m        | Tanne f
taxi          taxi       | taxi m           | taxi m         | Taxi n Taxis
limousine     limousine  | limousine f      | limousine f    | Limousine f
"""

SIZES = """
small         small      | petit petite           | piccolo piccola          | klein
big           big        | grand grande           | grande grande            | groß
enormous      enormous   | énorme énorme          | enorme enorme            | riesig
"""
"""Adjectives that stand before the noun in every language."""

QUALITIES = """
red           red        | rouge rouge            | rosso rossa              | rot
blue          blue       | bleu bleue             | blu blu                  | blau
green         green      | vert verte             | verde verde              | grün
yellow        yellow     | jaune jaune            | giallo gialla            | gelb
black         black      | noir noire             | nero nera                | schwarz
white         white      | blanc blanche          | bianco bianca            | weiß
grey          grey       | gris grise             | grigio grigia            | grau
brown         brown      | marron marron          | marrone marrone          | braun
purple        purple     | violet violette        | viola viola              | violett
pink          pink       | rose rose              | rosa rosa                | rosa

big           big        | grand grande           | grosso grossa            | groß
small         small      | petit petite           | piccolo piccola          | klein
wide          wide       | large large            | largo larga              | breit
narrow        narrow     | étroit étroite         | stretto stretta          | schmal
high          high       | haut haute             | alto alta                | hoch
low           low        | bas basse              | basso bassa              | niedrig
short         short      | court courte           | corto corta              | kurz
far           far_away   | éloigné éloignée       | lontano lontana          | weit_entfernt
ill           ill        | malade malade          | malato malata            | krank
dangerous     dangerous  | dangereux dangereuse   | pericoloso pericolosa    | gefährlich
fast          fast       | rapide rapide          | rapido rapida            | schnell
slow          slow       | lent lente             | lento lenta              | langsam
new           new        | neuf neuve             | nuovo nuova              | neu
old           old        | vieux vieille          | vecchio vecchia          | alt
hot           hot        | chaud chaude           | caldo calda              | heiß
salty         salty      | salé salée             | salato salata            | salzig

tired         tired      | fatigué fatiguée       | stanco stanca            | müde
hungry        hungry     | affamé affamée         | affamato affamata        | hungrig
curious       curious    | curieux curieuse       | curioso curiosa          | neugierig
rich          rich       | riche riche            | ricco ricca              | reich
happy         happy      | heureux heureuse       | contento contenta        | glücklich
"""
"""Adjectives that stand after the noun in French and Italian, or behind a verb."""

VERBS = """
ate           ate        | mangé                  | mangiato                 | aß
tasted        tasted     | goûté                  | assaggiato               | probierte
peeled        peeled     | épluché                | sbucciato                | schälte
forgot        forgot     | oublié                 | dimenticato              | vergaß
noted         noted      | noté                   | annotato                 | notierte
changed       changed    | changé                 | cambiato                 | änderte
"""
"""Verbs in the past: the participle that follows *have* in French and Italian."""


class Noun(NamedTuple):
    word: str
    gender: str
    genitive: str
    dative: str


class Referent(NamedTuple):
    """What a noun phrase speaks of: a noun and up to two adjectives, by the names of their meanings."""

    noun: str
    quality: str = ""
    size: str = ""


@cache
def noun(language: str, meaning: str) -> Noun:
    """Return a noun; English ones have no gender."""
    word, *more = _row(NOUNS, meaning)[LANGUAGES.index(language)].split()
    gender, genitive, dative = [*more, "", "", ""][:3]
    return Noun(word, gender, genitive or word, dative or word)


@cache
def size(language: str, meaning: str) -> tuple[str, ...]:
    """Return a size, masculine and feminine where the language tells them apart."""
    return _forms(SIZES, language, meaning)


@cache
def quality(language: str, meaning: str) -> tuple[str, ...]:
    """Return a colour or another quality, masculine and feminine where the language tells them apart."""
    return _forms(QUALITIES, language, meaning)


@cache
def verb(language: str, meaning: str) -> str:
    """Return a verb that decides what the date is."""
    return _row(VERBS, meaning)[LANGUAGES.index(language)]


def _forms(table: str, language: str, meaning: str) -> tuple[str, ...]:
    return tuple(form.replace("_", " ") for form in _row(table, meaning)[LANGUAGES.index(language)].split())


def _row(table: str, meaning: str) -> list[str]:
    return _rows(table)[meaning]


@cache
def _rows(table: str) -> dict[str, list[str]]:
    rows = [line.split(maxsplit=1) for line in table.strip().splitlines() if line.strip()]
    return {meaning: [column.strip() for column in columns.split("|")] for meaning, columns in rows}
