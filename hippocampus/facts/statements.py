"""What a text states, as far as its own words say it: whose words, which relation, what it ends.

Pure. A sentence that is not understood as a whole states nothing here, and is kept all the same.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.facts.languages import (
    WordingRules,
    expression,
    language_of,
    pattern,
    template,
    word_set,
    words_of_any,
)
from hippocampus.facts.models import Relation
from hippocampus.facts.words import ARTICLE, UNSPACED, bigrams, key, normalised, words

_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
RECALLED = re.compile(
    r"<memory\b[^>]*>(?s:.*?)(?:</memory>|\Z)"
    rf"|^.*\(id {_ID}[^)]*\)$|^[\d.\s]*{_ID}\s+\[.*$"
    r"|^- .+ → .+ → .+ \(since \d{4}-\d\d-\d\d[^)]*\)$|^- \[\d{4}-\d\d-\d\d [\w, -]+\] .*$",
    re.MULTILINE,
)
"""What a recall or a context load wrote; it is not remembered a second time."""
_BLOCKS = (
    r"(?ms)(?P<fence>```|~~~).*?(?:(?P=fence)|\Z)"
    r"|<(?P<tag>[A-Za-z][\w:-]*)\b[^>\n]*>.*?</(?P=tag)>|^[ \t]*<[A-Za-z][\w:-]*\b[^>\n]*>[ \t]*$.*?(?:\n\n|\Z)"
    r"|^[ \t]*(?:>|\||\t| {4,}\S)[^\n]*$"
    r"|^\W{0,4}(?:-{2,}\s*)?(?:{forwarded}).*\Z"
    r"|^(?:{headers})\s*[:：][^\n]*\n(?:^[^\n:：]{1,20}[:：][^\n]*\n)+.*\Z"
    r"|^(?:{greetings}) ?[^\n]{1,40}\n.*?\n[ \t]*(?:{closings})[^\n]{0,20}\n.*?(?:\n\n|\Z)"
    r"|^(?:{wrote})\s*:[ \t]*$.*\Z"
)
_REQUEST = r"(?ms)^\W*(?:(?:{please})\s*)?(?:{rework})(?:\s[^:：\n.]{0,40}|[^:：\n.\s]{0,10})[:：].+?(?:\n\n|\Z)"
"""A request about a text, with the text."""
_QUOTED = re.compile(
    r"“[^”]{12,}”|«[^»]{12,}»|„[^“”]{12,}[“”]|「[^」]{6,}」|『[^』]{6,}』|(?<!\w)\"[^\"]{12,}\"|(?<!\w)'[^'\n]{24,}'(?!\w)"
)
QUOTED_WORDS = 4
"""A shorter quotation in a script with spaces is a name or a title."""
_OBSERVATION = re.compile(
    r"\A\s*\[?(?:observation|tool[ _](?:result|output|response)|(?:execution|command|function)[ _](?:result|output)|output|stdout|stderr"
    r"|returncode|exit (?:code|status)|result of|system[- ]?reminder)\b[^\n]{0,60}?[\]:\n]",
    re.IGNORECASE,
)
"""How a host begins a message in which it sends what a tool answered."""
_SENTENCE = re.compile(r"(?<=[.!?؟।])[\"”»)]?\s+(?=[^\sa-zа-яё])|(?<=[。！？])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|St|vs|e\.g|i\.e|z\.B|d\.h|u\.a|bzw|ca|No|Nr|Prof|Inc|Ltd|Jr|Sr|Sra|etc|approx|Str|Mme|Hr|Fr|гг|ул|руб|тыс|т\.е|a\.m|p\.m"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|O[ck]t|Nov|De[cz]|Mon|Tues?|Wed|Thu|Fri|Sat|Sun|\w)|(?<![\w.])\d{1,2})\.$"
)
"""What ends with a stop and no sentence: abbreviations, initials, ordinals (`am 3. Mai`)."""
_CLAUSE = (
    r"\s*[,;:，；：،؛—–]\s+|\s*[，；：،؛]\s*|(?<=[\u3040-\u30ff\u3400-\u9fff])[,;:、]|\s+[—–-]\s+|(?<=\w\w[.!?])\s+"
    r"|\s+(?:{but_words})\s+|\s+(?=(?:{and_words})\s+(?:{now_words})\b)"
)
_RUN = re.compile(f"[{UNSPACED}]")
_TRAILING = r"\s+(?:{again_words})$"
_JOINED = r"\s(?:{joins})\s|[和或但而]"
"""A value that holds more than one, or a condition."""
LONGEST_SUBJECT_WORDS, LONGEST_VALUE_WORDS = 8, 6
LONGEST_STATEMENT = 600
SHORT = 5
"""A correction of this many words means the sentence behind it."""
OPEN_WORDS, OPEN_SIGNS = 3, 8
"""How much of a value without a word behind it counts: in words, and in characters of a script without spaces."""
_CASED = re.compile(r"[A-ZÄÖÜÀ-ÞА-ЯЁ\d]")
_PLACES = frozenset({"lives_in", "works_at"})


class Swap(NamedTuple):
    """An old value that a statement names, with the words next to it."""

    old: str
    new: str
    rest: frozenset[str]
    """The topic of its clause without both values."""


class Setting(NamedTuple):
    """A statement that sets one number, or names one thing of the speaker's, as `my manager is Tom`."""

    before: str
    behind: str
    value: str


class Denial(NamedTuple):
    """A clause that denies an earlier statement, in two parts."""

    subject: str
    """The words before the denial; empty where the words behind it name no topic."""
    what: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, as far as its own words say what it does."""

    text: str
    relation: Relation | None = None
    corrects: bool = False
    """Whether it calls an earlier statement wrong."""
    certain: bool = False
    """Whether more than an interjection does so, which may also answer a question."""
    swaps: tuple[Swap, ...] = ()
    ended: tuple[Denial, ...] = ()
    setting: Setting | None = None
    moves: bool = False
    """Whether its own words announce a change."""
    hearsay: bool = False
    """Whether it reports other people's words, or supposes something."""

    @property
    def may_end(self) -> bool:
        """Return whether there is anything that it could end."""
        sets = self.setting and self.moves
        return bool(self.relation or self.swaps or self.ended or self.corrects or sets)


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
    clauses = [stripped for part in _clauses(plain, rules) if (stripped := part.strip(" .!。！।"))]
    if pattern(rules.hypothetical).search(plain):
        return Statement(text, hearsay=bool(expression(_CONDITION, rules.code).search(plain)))
    passing = pattern(rules.temporary).search(plain) is not None
    adds = passing or pattern(rules.addition).search(plain) is not None
    now = pattern(rules.now).search(plain) is not None
    swaps = () if passing else tuple(_swaps(plain, rules, adds=adds, moves=now or corrects))
    ended = tuple(_ended(clauses, rules))
    return Statement(
        text,
        None if adds or ended else _relation(clauses, rules),
        corrects and not adds,
        bool(
            pattern(rules.correction).search(expression(_INTERJECTION, rules.code).sub("", plain))
            or pattern(rules.negation).search(plain.partition(" ")[2])
        ),
        swaps,
        ended,
        None if adds or ended else _setting(plain, rules),
        now or corrects or bool(swaps) or pattern(rules.changed).search(plain) is not None,
    )


def uncorrected(text: str) -> str:
    """Return a sentence without the clauses that only call an earlier one wrong.

    >>> uncorrected("No, sorry: the port is 80")
    'the port is 80'
    """
    return " ".join(_uncorrected(text))


def asserted(text: str) -> str:
    """Return the last clause of a correction, which has the right value.

    >>> asserted("No, not Tuesday: the launch is on Thursday, sorry")
    'the launch is on Thursday'
    """
    return next(reversed(_uncorrected(text)), "")


def _uncorrected(text: str) -> list[str]:
    rules = language_of(text, words(text)).rules
    if rules is None:
        return [text]
    correction = pattern(rules.correction)
    return [each for each in _clauses(text, rules) if not correction.search(f"{each},")]


def _clauses(text: str, rules: WordingRules) -> list[str]:
    return [part for part in expression(_CLAUSE, rules.code).split(text) if part]


_INTERJECTION = r"^(?:\W*(?:{interjections})(?!\w)\W*)+"
_CONDITION = r"^\W*(?:{conditions})\b"


def _swaps(plain: str, rules: WordingRules, *, adds: bool, moves: bool) -> Iterator[Swap]:
    moves = moves or pattern(rules.changed).search(plain) is not None
    for rule in [*(() if adds else rules.swaps), *(rules.moves if moves else ())]:
        for found in template(rule).finditer(plain):
            old, new = found["old"], _cut(found.groupdict().get("new") or "")
            if rule.startswith("{old}"):
                old = _cut(old, last=True)
            elif rule.endswith("{old}"):
                old = _cut(old)
            if topic(old) and key(old) != key(new) and not pattern(rules.now).search(old):
                clause = next((part for part in _clauses(plain, rules) if old in part), plain)
                yield Swap(old, new, topic(clause.replace(old, " ", 1).replace(new, " ", 1)))


def _cut(value: str, *, last: bool = False) -> str:
    """Return the words of a value that are next to the wording that announces it, up to a small word."""
    if _RUN.search(value):
        return value[-OPEN_SIGNS:] if last else value[:OPEN_SIGNS]
    parts = value.split()[::-1] if last else value.split()
    small = small_words(value)
    first = next((at for at, part in enumerate(parts) if part.lower() not in small), 0)
    named = itertools.takewhile(lambda part: part.lower() not in small, parts[first:])
    found = list(named)[:OPEN_WORDS]
    return " ".join(found[::-1] if last else found).strip(" '\"“”„«»")


def _ended(clauses: Sequence[str], rules: WordingRules) -> Iterator[Denial]:
    denial = pattern(rules.negation)
    for clause in (part for each in clauses for part in expression(_AND, rules.code).split(each)):
        found = pattern(rules.ended).search(clause)
        if found:
            before = denial.sub(" ", clause[: found.start()])
            behind = denial.sub(" ", clause[found.end() :])
            if what := found.groupdict().get("what"):
                yield Denial("", what)
            elif topic(behind):
                yield Denial(before, behind)
            else:
                yield Denial("", f"{before} {behind}")


_AND = r"\s+(?:{and_words})\s+|\s+(?=و\w)"


def _relation(clauses: Sequence[str], rules: WordingRules) -> Relation | None:
    for clause in clauses:
        for predicate, rule in rules.single:
            found = pattern(rule).fullmatch(
                _CONTRACTED.sub(r"\1 ", expression(_LEADING, rules.code).sub("", clause))
            )
            relation = _whole(predicate, found, rules) if found else None
            if relation is not None:
                return relation
    return None


_LEADING = r"^(?:{now_words})\s+"
_CONTRACTED = re.compile(r"\b(I|we)'(?:ve|m|re)\b\s*", re.IGNORECASE)


def _whole(predicate: str, found: re.Match[str], rules: WordingRules) -> Relation | None:
    """Return a relation whose subject and value are names, and nothing else."""
    subject = (found.groupdict().get("subject") or "user").strip()
    value = expression(_TRAILING, rules.code).sub("", found["object"].strip()).strip(" .!\"'")
    names, joined = words(subject), expression(_JOINED, rules.code)
    if not value or len(names) > LONGEST_SUBJECT_WORDS or joined.search(f" {subject} "):
        return None
    owner = key(subject)
    pronouns = words_of_any("first") | words_of_any("third")
    if owner != "user" and not pronouns.isdisjoint(names):
        return None
    if len(value.split()) > LONGEST_VALUE_WORDS or joined.search(f" {value} "):
        return None
    if predicate in _PLACES and value.isascii() and not _CASED.search(value):
        return None
    return Relation(owner if owner == "user" else subject, predicate, value)


def _setting(plain: str, rules: WordingRules) -> Setting | None:
    """Return the one number of a statement of the speaker's or with a copula, or the name at its end."""
    gap = "" if _RUN.search(plain) else " "
    plain = " ".join(pattern(rules.now).sub(gap, plain).split()).strip(" .!。！।")
    own = pattern(rules.own)
    around = _NUMBER.split(plain)
    if len(around) == 3:
        before, number, behind = (each.strip() for each in around)
        copula = expression(f"{_COPULA}$" if not gap else rf"(?<!\w){_COPULA}$", rules.code)
        is_counted = len(before.split()) > 2 and len(behind.split()) < 2
        if own.match(plain) or copula.search(before) or (is_counted and ARTICLE.match(before)):
            return Setting(key(before), key(behind), number) if before else None
        return None
    named = expression(_NAMED, rules.code).fullmatch(plain)
    if named is None or not _CASED.match(named["name"]):
        return None
    about = named["about"]
    is_thing = ARTICLE.match(about) or own.search(about)
    is_one = not (persons(about) and ARTICLE.fullmatch(about.split()[-1]))
    return Setting(key(about), "", named["name"]) if is_thing and is_one else None


_NUMBER = re.compile(r"(\d+(?:[.,:]\d+)*)")
_COPULA = "(?:{copulas})"
_NAMED = rf"(?P<about>(?:\S+ ){{2,5}}?{_COPULA}) (?P<name>\S+(?: [^\W\d_]\S*)?)"


@functools.lru_cache(maxsize=4096)
def topic(text: str) -> frozenset[str]:
    """Return the words of a text that name what it is about: no small words, no verbs of change.

    Of a script without spaces these are pairs of characters.
    """
    language, small = language_of(text, words(text)), small_words(text)
    if _RUN.search(text):
        for verb in sorted(small, key=len, reverse=True):
            text = text.replace(verb, " ")
        return frozenset(
            pair
            for word in words(text)
            for pair in (bigrams(word) if _RUN.search(word) else [word])
        )
    own = pattern(language.rules.own) if language.rules else None
    pronouns = words_of_any("third")
    return frozenset(
        word
        for word in words(text.replace("'", " "))
        if word not in small and word not in pronouns and not (own and own.fullmatch(word))
    )


def is_own(sentence: str) -> bool:
    """Return whether a sentence is about the speaker or the speaker's things, and about no other person."""
    rules = language_of(sentence, words(sentence)).rules
    if rules is None or persons(sentence):
        return False
    plain = sentence.replace("\u2019", "'")
    return rules.drops_subjects or pattern(rules.own).search(plain) is not None


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


def coverage(wanted: Collection[str], text: str) -> float:
    """Return the share of some words that a text has, in whatever inflection.

    >>> coverage(["live", "berlin"], "She lives in Berlin")
    1.0
    """
    return sum(holds(text, frozenset({word})) for word in wanted) / max(1, len(wanted))


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


def small_words(text: str) -> frozenset[str]:
    """Return the words of a text's language that name no topic."""
    language = language_of(text, words(text))
    verbs = word_set(language.rules.verbs) if language.rules else frozenset()
    return language.stop_words | verbs


def persons(text: str) -> frozenset[str]:
    """Return the persons other than the speaker that a text names by what they are to the speaker."""
    text = re.sub(r"\bFrau (?=[A-ZÄÖÜ])", "", text)
    rules = language_of(text, words(text)).rules
    people = frozenset(rules.people.split()) if rules else frozenset()
    if _RUN.search(text):
        return frozenset(each for each in people if each in text)
    return people & set(words(text.replace("'", " ")))


# Whose words


def own_words(text: str) -> str:
    r"""Return a text without its pasted parts: fences, quotes, forwarded mail, documents, observations.

    >>> own_words("I like tea.\n> I prefer coffee")
    'I like tea.'
    """
    text = RECALLED.sub(" ", text)
    if _OBSERVATION.match(text):
        return ""
    own = expression(_BLOCKS).sub("\n", text)
    own = expression(_REQUEST).sub("\n", own) if own == text else own
    return _QUOTED.sub(_unless_name, own).strip()


def _unless_name(quoted: re.Match[str]) -> str:
    is_name = len(quoted[0].split()) < QUOTED_WORDS and not _RUN.search(quoted[0])
    return quoted[0] if is_name else "…"


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

    >>> sentences("Dr. Bo works at 3.5 GHz! Ich mag Obst, z. B. Äpfel. Am 3. Mai auch.")
    ['Dr. Bo works at 3.5 GHz!', 'Ich mag Obst, z. B. Äpfel.', 'Am 3. Mai auch.']
    """
    pieces = (
        text[start:end].strip().removeprefix("- ").removeprefix("* ").strip()
        for start, end in sentence_spans(text)
    )
    return [piece for piece in pieces if re.search(r"\w", piece)]


def joined(found: Iterable[str]) -> list[str]:
    """Return sentences, a short correction together with the next one, which has the right value."""
    kept: list[str] = []
    for each in found:
        if kept and len(words(kept[-1])) <= SHORT and read(kept[-1]).corrects:
            kept[-1] = f"{kept[-1]} {each}"
        else:
            kept.append(each)
    return kept


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


# Types

_OF_OTHERS = re.compile(
    r"^(?:the )?(?:user|[A-Z][\w-]+) (?:really |always |strongly )*(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|does(?:n't| not) like)\b"
)
_ERROR = re.compile(r"\b(?:failed|fails|crashed|exception|traceback|error)\b", re.IGNORECASE)


def prefers(text: str) -> bool:
    """Return whether a text words what the user likes, or wants from now on."""
    return expression("{preference}").search(text) is not None


def worded_as(sentence: str) -> str:
    """Return the type that a sentence's wording names: a correction, a decision, a preference, or nothing."""
    if read(sentence).corrects:
        return "correction"
    if expression("{decision}").search(sentence):
        return "decision"
    return "preference" if prefers(sentence) else ""


def type_of(sentence: str) -> str:
    """Return the type of a sentence: by its wording, else an error or a fact.

    >>> type_of("I prefer tabs"), type_of("User prefers dark mode"), type_of("Ann lives in Rome")
    ('preference', 'preference', 'fact')
    """
    if worded := worded_as(sentence):
        return worded
    if _OF_OTHERS.search(sentence):
        return "preference"
    return "error" if _ERROR.search(sentence) else "fact"
