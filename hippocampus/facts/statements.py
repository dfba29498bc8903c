"""What a text states, as far as its own words say it: whose words, which relation, what it ends.

Pure. A sentence that is not understood as a whole states nothing here, and is kept all the same.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.facts.languages import WordingRules, language_of, pattern, word_set
from hippocampus.facts.names import FIRST, Relation, key
from hippocampus.facts.words import UNSPACED, bigrams, normalised, words

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
RECALLED = re.compile(
    r"<memory\b[^>]*>(?s:.*?)(?:</memory>|\Z)"
    rf"|^.*\(id {_ID}[^)]*\)$|^[\d.\s]*{_ID}\s+\[.*$"
    r"|^- .+ → .+ → .+ \(since \d{4}-\d\d-\d\d[^)]*\)$|^- \[\d{4}-\d\d-\d\d [\w, -]+\] .*$",
    re.MULTILINE,
)
"""What a recall or a context load wrote; it is not remembered a second time."""
_BLOCKS = re.compile(
    r"(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)"
    r"|<(?P<tag>[A-Za-z][\w:-]*)\b[^>\n]*>.*?(?:</(?P=tag)>|\Z)"
    r"|^[ \t]*(?:>|\||\t| {4,}\S).*$"
    r"|^\W{0,4}(?:-{2,}\s*)?(?:begin forwarded message|forwarded message|original message|weitergeleitete nachricht"
    r"|ursprüngliche nachricht|mensaje (?:reenviado|original)|message (?:transféré|d'origine)|пересылаемое сообщение"
    r"|исходное сообщение|转发邮件|原始邮件|الرسالة (?:الأصلية|المحولة)|अग्रेषित संदेश).*\Z"
    r"|^(?:from|von|de|от|发件人|من|प्रेषक)\s*[:：][^\n]*\n(?:^[^\n:：]{1,20}[:：][^\n]*\n)+.*\Z"
    r"|^(?:on|am|el|le)\b[^\n]{5,120}(?:wrote|schrieb[^\n:]*|escribió|a écrit)\s*:.*\Z",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r"“[^”]{12,}”|«[^»]{12,}»|„[^“”]{12,}[“”]|「[^」]{6,}」|『[^』]{6,}』|(?<!\w)\"[^\"]{12,}\"|(?<!\w)'[^'\n]{24,}'(?!\w)"
)
_OBSERVATION = re.compile(
    r"\A\s*\[?(?:observation|tool[ _](?:result|output|response)|(?:execution|command|function)[ _](?:result|output)|output|stdout|stderr"
    r"|returncode|exit (?:code|status)|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_SENTENCE = re.compile(r"(?<=[.!?؟।])[\"”»)]?\s+(?=[^\sa-zа-яё])|(?<=[。！？])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|vs|e\.g|i\.e|z\.B|d\.h|u\.a|bzw|ca|No|Nr|Prof|Inc|Ltd|Jr|Sr|Sra|etc|approx|Str|Mme|Hr|Fr|г|ул|т\.е|a\.m|p\.m|[A-ZÄÖÜ])|(?<![\w.])\d{1,2})\.$"
)
"""What ends with a stop and no sentence: abbreviations, initials, ordinals (`am 3. Mai`)."""
_CLAUSE = re.compile(
    r"\s*[,;:，；：،؛—–]\s+|\s*[，；：،؛]\s*|(?<=[\u3400-\u9fff])[,;:]|\s+[—–-]\s+|(?<=\w\w[.!?])\s+|\s+(?:but|sondern|sino|mais|pero|aber|но|بل|बल्कि)\s+|\s+(?=(?:and|und|y|et|и)\s+(?:now|jetzt|ahora|maintenant|теперь)\b)"
)
_RUN = re.compile(f"[{UNSPACED}]")
_TRAILING = re.compile(
    r"\s+(?:now|again|these days|at the moment|anymore|currently|jetzt|wieder|inzwischen|mittlerweile|ahora|de nuevo|otra vez|maintenant"
    r"|désormais|de nouveau|à nouveau|теперь|сейчас|снова|опять|الآن|مجددا|مجددًا|حاليا|again now|since .+|seit .+|desde .+|depuis .+|منذ .+)$",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s(?:and|or|but|when|if|because|with|und|oder|aber|wenn|weil|mit|y|o|pero|cuando|porque|con|et|ou|mais|quand|avec|и|или|но|когда"
    r"|потому|с|و|أو|لكن|और|या|लेकिन)\s|[和或但而]",
    re.IGNORECASE,
)
"""A value that holds more than one, or a condition."""
LONGEST_SUBJECT_WORDS, LONGEST_VALUE_WORDS = 8, 6
LONGEST_STATEMENT = 600
LOOSE = 2
"""How many of a language's forms of corrections, the first ones, need more than their own words."""
_UNIT = re.compile(r"[^\W\d_]+|[%$€£¥₽₹°]")
_CASED = re.compile(r"[A-ZÄÖÜÀ-ÞА-ЯЁ\d]")
_PLACES = frozenset({"lives_in", "works_at"})


class Swap(NamedTuple):
    """An old value that a statement names, with what it says next to both."""

    old: str
    new: str
    corrects: bool
    """Whether the old value was never true."""
    explicit: bool
    """Whether its wording is that of a correction, whatever stands around it."""
    rest: frozenset[str]
    """The words of its clause without both values, verbs of change and small words."""
    whole: str
    """The sentence that says it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, as far as its own words say what it does."""

    text: str
    relation: Relation | None = None
    corrects: bool = False
    """Whether it says that what was said before is wrong."""
    changed: bool = False
    """Whether it says that something became so."""
    swaps: tuple[Swap, ...] = ()
    certain: bool = False
    """Whether it says so by more than an interjection, which may also answer a question."""
    ended: tuple[str, ...] = ()
    """Clauses without their denial: what is so no longer."""
    hearsay: bool = False
    """Whether it reports other people's words, or supposes something."""
    clauses: tuple[str, ...] = ()
    measured: bool = False
    """Whether it gives something a number."""

    @property
    def may_end(self) -> bool:
        """Return whether there is anything that it could end."""
        return bool(
            self.relation
            or self.swaps
            or self.ended
            or self.measured
            or ((self.corrects or self.changed) and self.clauses)
        )


@functools.lru_cache(maxsize=4096)
def read(text: str) -> Statement:
    """Return what one sentence states."""
    plain = " ".join(text.replace("\u2019", "'").split()).strip()
    rules = language_of(plain, words(plain)).rules
    if rules is None or len(plain) > LONGEST_STATEMENT:
        return Statement(text)
    corrects = pattern(rules.correction).search(plain) is not None
    reported = pattern(rules.reported).search(plain) and not (corrects and is_own(plain))
    if plain.endswith(("?", "？", "؟")) or reported:
        return Statement(text, hearsay=True)
    clauses = tuple(
        part.strip(" .!。！।") for part in _CLAUSE.split(plain) if part and part.strip(" .!。！।")
    )
    if pattern(rules.hypothetical).search(plain):
        return Statement(text, hearsay=bool(_CONDITION.search(plain)), clauses=clauses)
    now = pattern(rules.now).search(plain) is not None
    temporary = pattern(rules.temporary).search(_STARTING.sub(" ", plain)) is not None
    adds = pattern(rules.addition).search(plain) is not None
    swaps = () if temporary else tuple(_swaps(plain, rules, corrects=corrects or now, adds=adds))
    ended = tuple(_ended(plain, clauses, rules))
    changed = now or bool(swaps or ended)
    relation = None if temporary or adds or ended else _relation(clauses, rules)
    return Statement(
        text,
        relation,
        (corrects or any(swap.explicit for swap in swaps)) and not (temporary or adds),
        changed and not (temporary or adds),
        swaps,
        pattern(rules.correction).search(_INTERJECTION.sub("", plain)) is not None,
        ended,
        clauses=clauses,
        measured=not (temporary or adds or ended) and _measured(clauses, rules),
    )


def _measured(clauses: tuple[str, ...], rules: WordingRules) -> bool:
    """Return whether a clause gives something a number: `the payment terms of Acme are 30 days`."""
    return any(
        len(parts := pattern(rules.copula).split(clause)) == 2
        and re.search(r"\d", parts[1]) is not None
        for clause in clauses
    )


_INTERJECTION = re.compile(
    r"^(?:\W*(?:no+|nope|nah|oh+|ah+|hm+|ugh|argh|oops|well|nein|ne+|nö|ach|äh|non|nan|euh|ay|uy|нет|ой|не-а|不是|哦不?|啊不?|لا|كلا|أوه|नहीं|ना|न|अरे|ओह)(?!\w)\W*)+",
    re.IGNORECASE,
)
_STARTING = re.compile(
    r"\b(?:starting|beginning|effective|as of|since|from|ab|seit|a partir de|desde|à partir de|dès|depuis|начиная с|с) (?:\w+ )?"
    r"(?:today|tomorrow|this \w+|next \w+|heute|morgen|diese\w* \w+|nächste\w* \w+|hoy|mañana|est[ae] \w+|aujourd'hui|demain|cette \w+|ce \w+"
    r"|сегодня|завтра|эт\w+ \w+)|从(?:今天|明天|这\w{1,2}|下\w{1,2})(?:起|开始)?|(?:ابتداء )?من (?:اليوم|الغد|هذا \w+)|(?:आज|कल|इस \S+|अगले \S+) से",
    re.IGNORECASE,
)
"""From when something holds, which is no state that ends by itself."""
_CONDITION = re.compile(
    r"^\W*(?:if|suppose|supposing|imagine|what if|let's say|wenn|falls|angenommen|stell dir vor|si|supongamos|imagina|supposons|imaginons"
    r"|если|допустим|предположим|представь|如果|要是|假如|假设|إذا|اذا|لو|لنفترض|تخيل|अगर|यदि|मान लो|मान लीजिए|काश)\b",
    re.IGNORECASE,
)
"""An opening after which nothing is so."""


def _swaps(plain: str, rules: WordingRules, *, corrects: bool, adds: bool) -> Iterator[Swap]:
    contrasts = corrects or pattern(rules.contrast).search(plain) is not None
    for place, rule in enumerate(
        [*rules.swaps, *(rules.corrections if corrects or not adds else ())]
    ):
        corrected = place >= len(rules.swaps)
        loose = corrected and place < len(rules.swaps) + LOOSE
        if loose and not contrasts:
            continue
        for found in pattern(rule).finditer(plain):
            if loose and not corrects and not pattern(rules.contrast).search(found[0]):
                continue
            old, new = found["old"].strip(" '\"“”„«»"), found.groupdict().get("new") or ""
            if topic(old) and len(old.split()) <= LONGEST_VALUE_WORDS and key(old) != key(new):
                parts = _CLAUSE.split(plain)
                clause = next((part for part in parts if part and found["old"] in part), plain)
                rest = topic(clause.replace(found["old"], " ", 1).replace(new, " ", 1))
                yield Swap(old, new, corrected, corrected and not loose, rest, plain)


def _ended(plain: str, clauses: tuple[str, ...], rules: WordingRules) -> Iterator[str]:
    marker, denial = pattern(rules.ended), pattern(rules.negation)
    if marker.search(plain) is None:
        return
    for clause in clauses if len(clauses) > 1 else (plain,):
        if marker.search(clause):
            yield denial.sub(" ", marker.sub(" ", clause)).strip()


def _relation(clauses: tuple[str, ...], rules: WordingRules) -> Relation | None:
    for clause in clauses:
        for predicate, rule in rules.single:
            found = pattern(rule).fullmatch(_CONTRACTED.sub(r"\1 ", clause))
            relation = _whole(predicate, found) if found else None
            if relation is not None:
                return relation
    return None


_CONTRACTED = re.compile(r"\b(I|we)'(?:ve|m|re)\b\s*", re.IGNORECASE)


def _whole(predicate: str, found: re.Match[str]) -> Relation | None:
    """Return a relation whose subject and value are names, and nothing else."""
    subject = (found.groupdict().get("subject") or "user").strip()
    value = _TRAILING.sub("", found["object"].strip()).strip(" .!\"'")
    names = words(subject)
    if not value or len(names) > LONGEST_SUBJECT_WORDS or _JOINED.search(f" {subject} "):
        return None
    owner = key(subject)
    if owner != "user" and (FIRST & set(names) or THIRD & set(names)):
        return None
    if len(value.split()) > LONGEST_VALUE_WORDS or _JOINED.search(f" {value} "):
        return None
    if predicate in _PLACES and value.isascii() and not _CASED.search(value):
        return None
    return Relation(owner if owner == "user" else subject, predicate, value)


THIRD = word_set(
    """he she they it that this there er sie es das dies él ella ellos eso esto il elle ils ça он
    она они это ce c उसने उसका उसकी उन्होंने هو هي هم वह वे यह ये 他 她 它 他们 which who"""
)
"""Pronouns: whom they mean is not known here."""


def topic(text: str) -> frozenset[str]:
    """Return the words of a text that name what it is about: no small words, no verbs of change.

    Of a script without spaces these are pairs of characters.
    """
    language = language_of(text, words(text))
    small = language.stop_words | (
        frozenset(language.rules.verbs.split()) if language.rules else frozenset()
    )
    if _RUN.search(text):
        for verb in sorted(small, key=len, reverse=True):
            text = text.replace(verb, " ")
        return frozenset(
            pair
            for word in words(text)
            for pair in (bigrams(word) if _RUN.search(word) else [word])
        )
    own = pattern(language.rules.own) if language.rules else None
    return frozenset(
        word
        for word in words(text.replace("'", " "))
        if word not in small and word not in THIRD and not (own and own.fullmatch(word))
    )


def is_own(sentence: str) -> bool:
    """Return whether a sentence is about the speaker, or what is the speaker's: about no other person."""
    rules = language_of(sentence, words(sentence)).rules
    if rules is None:
        return False
    people = frozenset(rules.people.split())
    found = words(sentence.replace("'", " "))
    if any(word in people for word in found) or (
        _RUN.search(sentence) and any(each in sentence for each in people)
    ):
        return False
    return (
        rules.drops_subjects
        or pattern(rules.own).search(sentence.replace("\u2019", "'")) is not None
    )


def holds(text: str, wanted: frozenset[str]) -> bool:
    """Return whether a text has each of some words, in whatever inflection."""
    if not wanted:
        return False
    present = words(text.replace("'", " "))
    plain, unspaced = normalised(text), _RUN.search(text) is not None
    return all(
        (word in plain)
        if unspaced or _RUN.search(word)
        else any(_same_stem(word, other) for other in present)
        for word in wanted
    )


def _same_stem(one: str, other: str) -> bool:
    """Return whether two words differ at most in their endings.

    >>> _same_stem("москвы", "москве"), _same_stem("eat", "eats"), _same_stem("drinking", "drink"), _same_stem("tea", "team")
    (True, True, True, False)
    """
    if one == other:
        return True
    one, other = one.removeprefix("ال"), other.removeprefix("ال")
    short, long = sorted((one, other), key=len)
    if any(sign.isdigit() for sign in one + other) or len(short) < 3:
        return one == other
    if long.startswith(short) and (
        long[len(short) :] in _ENDINGS or (not short.isascii() and len(long) - len(short) <= 2)
    ):
        return True
    if len(one) == len(other) and one[:-1] == other[:-1] and {one[-1], other[-1]} <= _VOWELS:
        return True
    stem = len(short) - (2 if len(short) > 4 else 1)
    return (
        stem >= 3 and not short.isascii() and long[:stem] == short[:stem] and len(long) - stem <= 3
    )


_VOWELS = frozenset("аяыиуюоейь")
_ENDINGS = word_set("""s es d ed ing n en e t te st er a as o os an""")


def subject_of(clause: str) -> str:
    """Return whom a clause is about: `user` for the speaker, else the first person or thing that it names."""
    rules = language_of(clause, words(clause)).rules
    names = [
        word
        for word in words(clause.replace("'", " "))
        if rules is None or word not in {"as", "of"}
    ]
    if not names or rules is None:
        return ""
    people = frozenset(rules.people.split())
    person = next((word for word in names if word in people), "")
    if person:
        return person
    if pattern(rules.first_person).search(clause.replace("\u2019", "'")) or rules.drops_subjects:
        return "user"
    if names[0] in THIRD:
        return ""
    if len(names) > 1 and re.fullmatch(rules.possessive, names[0], re.IGNORECASE):
        return names[1]
    return names[0]


# Whose words


def own_words(text: str) -> str:
    r"""Return a text without what is pasted into it: fences, quotes, forwarded mail, documents, observations.

    >>> own_words("I like tea.\n> I prefer coffee")
    'I like tea.'
    """
    text = RECALLED.sub(" ", text)
    if _OBSERVATION.match(text):
        return ""
    return _QUOTED.sub("…", _BLOCKS.sub("\n", text)).strip()


def without_recalled(text: str) -> str:
    """Return a text without what recall put into it."""
    return RECALLED.sub(" ", text).strip()


# Sentences


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence of a text begins and where the next one does.

    >>> text = "Ann lives in Rome. Bo moved on 3. May. At 5 p.m. he left."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Ann lives in Rome. ', 'Bo moved on 3. May. ', 'At 5 p.m. he left.']
    """
    cuts = [match.end() for match in _SENTENCE.finditer(text) if not _goes_on(text, match)]
    yield from (
        (start, end) for start, end in itertools.pairwise([0, *cuts, len(text)]) if start < end
    )


def _goes_on(text: str, cut: re.Match[str]) -> bool:
    """Return whether the stop before a cut belongs to an abbreviation or an ordinal."""
    return (
        "\n" not in cut[0]
        and _ABBREVIATION.search(text[max(0, cut.start() - 12) : cut.start()]) is not None
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Ann lives in Rome. Dr. Bo works at 3.5 GHz!")
    ['Ann lives in Rome.', 'Dr. Bo works at 3.5 GHz!']
    """
    pieces = (
        text[start:end].strip().removeprefix("- ").removeprefix("* ").strip()
        for start, end in sentence_spans(text)
    )
    return [piece for piece in pieces if re.search(r"\w", piece)]


def without_sentence(text: str, claim: str) -> str:
    """Return a text without the sentences that say a claim, whatever their case and spaces.

    >>> without_sentence("We use Postgres. I prefer  tabs! Thanks.", "i prefer tabs.")
    'We use Postgres. Thanks.'
    """
    parts = [re.escape(word) for word in claim.rstrip(".!。！।").split()]
    if not parts:
        return text
    said = re.compile(r"(?<!\w)" + r"\s+".join(parts) + r"(?!\w)", re.IGNORECASE)
    spans = list(sentence_spans(text))
    gone = [match.span() for match in said.finditer(text)]
    left = [text[a:b] for a, b in spans if not any(first < b and a < last for first, last in gone)]
    return text if len(left) == len(spans) else "".join(left).strip()


def units(value: str) -> frozenset[str]:
    """Return the units of a value that holds a number; nothing where it holds none."""
    return frozenset(_UNIT.findall(normalised(value))) if re.search(r"\d", value) else frozenset()
