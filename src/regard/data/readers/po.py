r"""Gettext catalogues (PO): msgid is the source and msgstr the target, or the other way where the header says so.

Entries marked fuzzy, untranslated and obsolete ones are left out, and so is the header. Of an entry with plural forms,
msgid goes with the form that the language uses for one, msgid_plural with each of the others.
"""

import re
from collections.abc import Iterator
from gettext import c2py  # turns the plural rule of a header into a function
from pathlib import Path
from typing import NamedTuple

from regard.data.corpus import Pair
from regard.data.lines import Ask, Bad, Fault, Left, Line, Row, checked, decoded, lines, same_language

STRING = r'"((?:[^"\\]|\\.)*)"\s*'
FIELD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr)(?:\[(\d+)\])?\s*" + STRING)
BEGINS = re.compile(r"(msgctxt|msgid)\b")
MORE = re.compile(STRING)
ESCAPE = re.compile(rb"\\(?:([abfnrtv\"'?\\])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
SIGNS = dict(zip(b"abfnrtv\"'?\\", b"\a\b\f\n\r\t\v\"'?\\", strict=True))


class Entry(NamedTuple):
    line: int
    fuzzy: bool
    fields: dict[str, str]
    """Its texts by field: msgid, msgid_plural, msgstr, or msgstr 0, msgstr 1, …"""


def read(path: Path, ask: Ask) -> Iterator[Line]:
    swapped, one = False, 0
    for found in entries(path):
        if isinstance(found, Bad):
            yield found
        elif found.fields.get("msgid") == "" and "msgctxt" not in found.fields:
            swapped, one = header(path, ask, found.fields.get("msgstr", ""))
        elif found.fuzzy:
            yield Left(str(path), found.line, "fuzzy")
        else:
            for source, target in pairs(found.fields, one):
                yield judged(path, found.line, ask, *((target, source) if swapped else (source, target)), swapped)


def header(path: Path, ask: Ask, text: str) -> tuple[bool, int]:
    """Return whether msgstr is in the source language, and which plural form stands for one."""
    fields = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in text.split("\n"))
    }
    language = fields.get("language", "")
    swapped = not same_language(language, ask.target) and same_language(language, ask.source)
    if language and not swapped and not same_language(language, ask.target):
        raise ValueError(f"{path} translates into {language}, but {ask.source}-{ask.target} is asked for")
    rule = re.search(r"plural=([^;]+)", fields.get("plural-forms", ""))
    try:
        return swapped, int(c2py(rule[1])(1)) if rule else 0
    except ValueError:
        return swapped, 0


def pairs(fields: dict[str, str], one: int) -> Iterator[tuple[str, str]]:
    forms = {name: text for name, text in fields.items() if name.startswith("msgstr")}
    if "msgid_plural" not in fields:
        yield fields.get("msgid", ""), forms.get("msgstr", "")
        return
    for name, text in forms.items():
        single = name == f"msgstr {one}" and len(forms) > 1
        yield fields["msgid"] if single else fields["msgid_plural"], text


def judged(path: Path, line: int, ask: Ask, source: str, target: str, swapped: bool) -> Line:
    if not (source if swapped else target):
        return Left(str(path), line, "untranslated")
    try:
        return Row(str(path), line, Pair(checked(source, ask.source), checked(target, ask.target)))
    except Fault as fault:
        return Bad(str(path), line, fault.reason, fault.detail)


def entries(path: Path) -> Iterator[Entry | Bad]:
    """Return the entries of a file; a line that cannot be read takes its entry with it."""
    fields: dict[str, str] = {}
    name, start, fuzzy, broken = "", 0, False, False
    for number, raw in enumerate([*lines(path), b'msgid ""'], 1):
        try:
            line = decoded(raw).strip()
            ended = name.startswith("msgstr") or "msgid" in fields or broken
            if (ended and BEGINS.match(line)) or (line.startswith("#") and (name.startswith("msgstr") or broken)):
                if not broken:
                    yield entry(path, start, fuzzy, fields)
                fields, name, fuzzy, broken = {}, "", False, False
            if line.startswith("#") or not line:
                # An obsolete entry (#~) takes its own flags along.
                flagged = line.startswith("#,") and "fuzzy" in [flag.strip() for flag in line[2:].split(",")]
                fuzzy = (fuzzy or flagged) and not line.startswith("#~")
            elif field := FIELD.fullmatch(line):
                name = field[1] if field[2] is None else f"{field[1]} {int(field[2])}"
                start = number if field[1] == "msgid" else start
                fields[name] = unescaped(field[3])
            elif name and (more := MORE.fullmatch(line)):
                fields[name] += unescaped(more[1])
            else:
                raise Fault("no PO syntax", "neither a comment nor msgid, msgstr or a string in quotation marks")
        except Fault as fault:
            broken = True
            yield Bad(str(path), number, fault.reason, fault.detail)


def entry(path: Path, line: int, fuzzy: bool, fields: dict[str, str]) -> Entry | Bad:
    if not any(name.startswith("msgstr") for name in fields):
        return Bad(str(path), line, "no PO syntax", "msgid without msgstr")
    return Entry(line, fuzzy, fields)


def unescaped(text: str) -> str:
    # Octal and hexadecimal escapes are bytes: several of them may make one character.
    def sign(match: re.Match[bytes]) -> bytes:
        simple, octal, hexadecimal, other = match.groups()
        if other is not None:
            raise Fault("unknown escape", f"\\{other.decode(errors='replace')} is no escape of PO files")
        return bytes([SIGNS[simple[0]] if simple else int(octal, 8) & 255 if octal else int(hexadecimal, 16)])

    return decoded(ESCAPE.sub(sign, text.encode()))
