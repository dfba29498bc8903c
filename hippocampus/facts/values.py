"""The parts of a text that a paraphrase does not change: numbers, dates, names, negation, units. Pure."""

from __future__ import annotations

import re
from collections import Counter

from hippocampus.facts.stopwords import STOP_WORDS
from hippocampus.facts.tables import word_set
from hippocampus.facts.words import normalised

_NUMBER = re.compile(r"[-−]?\d+(?:[.,:/]\d+)*")
_GROUPED = re.compile(r"^\d{1,3}(?:[.,]\d{3})+$")
_CAPITAL = re.compile(r"[^\W\d_][\w'\-]*")

NUMBER_WORDS = word_set(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion first second
    third fourth fifth once twice double half dozen both
    null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend
    erste zweite dritte halb deux trois quatre cinq six sept huit neuf dix onze douze vingt cent mille
    premier deuxième dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien mil primero
    segundo due tre quattro cinque sei sette otto nove dieci venti cento primo dois duas três quatro
    oito dez vinte cem twee drie vijf zeven acht negen tien
    один одна два две три четыре пять шесть семь восемь девять десять двадцать сто тысяча тысяч
    первый второй третий"""
)
NOT_COUNTS = word_set("due once half both first second third fourth fifth double premier primo")
"""Number words that start no quantity, or are other words too."""
NUMBER_SIGNS = re.compile("[零〇一二两三四五六七八九十百千万亿億半]")
UNITS = word_set(
    """km m cm mm mi mile miles metre metres meter meters kilometre kilometres kilometer kilometers ft
    feet foot inch inches yard yards kg g mg lb lbs pound pounds ounce ounces kilo kilos gram grams ton
    tons l ml liter liters litre litres gallon gallons celsius fahrenheit kelvin c f usd eur gbp jpy chf
    dollar dollars euro euros yen franc francs rubel cent cents percent prozent pour bytes kb mb gb tb
    kib mib gib tib hz khz mhz ghz s ms sec second seconds minute minutes min h hour hours day days week
    weeks month months year years quarter quarters stunde stunden minuten sekunden tag tage woche wochen
    monat monate jahr jahre heure heures jour jours semaine semaines mois an ans hora horas día días
    semana semanas mes meses año años giorno giorni settimana settimane mese mesi anno anni dia dias mês
    ano anos uur uren dag dagen maand maanden jaar
    час часа часов день дня дней неделя недели недель месяц месяца месяцев год года лет рублей рубля
    доллар доллара долларов евро км кг фунтов миль минут
    pm am daily weekly monthly yearly annually hourly"""
)
UNIT_SIGNS = re.compile(
    r"[$€£¥₽₹₩%‰°℃℉元円块磅米]|公里|英里|公斤|千克|小时|分钟|秒|[天周月年]|時間|分|日|週間|か月|キロ|マイル|ポンド|ドル|ユーロ|킬로|마일|달러|유로|원|시간|일|주|개월|년"
)
DATE_WORDS = word_set(
    """january february march april may june july august september october november december jan feb mar
    apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue
    wed thu fri sat sun today tomorrow yesterday tonight morning noon afternoon evening night midnight
    spring summer autumn fall winter
    januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag
    samstag sonntag heute morgen gestern abend morgens abends mittag nachts
    janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi
    jeudi vendredi samedi dimanche demain hier aujourd'hui soir matin
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes
    miércoles jueves viernes sábado domingo hoy mañana ayer tarde noche
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì mercoledì
    giovedì venerdì sabato domenica oggi domani ieri
    janeiro fevereiro março maio junho julho setembro outubro dezembro segunda terça quarta quinta sexta
    hoje amanhã ontem maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник
    понедельника вторник вторника среда среду среды четверг четверга пятница пятницу пятницы суббота
    субботу субботы воскресенье воскресенья сегодня завтра вчера утром вечером"""
)
DATE_SIGNS = re.compile(
    "(?:星期|周|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일|今天|明天|昨天|今日|明日|昨日|上午|下午|午前|午後|오늘|내일|어제"
)


def numbers(text: str) -> Counter[str]:
    """Return the numbers of a text, in one notation: digits, number words and signs.

    >>> sorted(numbers("1,000 users and 2.5 GB in two v3 pods"))
    ['1000', '2.5', '3', 'two']
    """
    folded = normalised(text)
    found = Counter(_number(digits) for digits in _NUMBER.findall(folded))
    found.update(word for word in _split(folded) if word in NUMBER_WORDS)
    found.update(NUMBER_SIGNS.findall(folded))
    return found


def _number(digits: str) -> str:
    plain = digits.replace("−", "-").lstrip("0") or "0"
    return re.sub("[.,]", "", plain) if _GROUPED.match(plain) else plain.replace(",", ".")


def dates(text: str) -> Counter[str]:
    """Return the names of days, months and times of day in a text."""
    folded = normalised(text)
    found = Counter(word for word in _split(folded) if word in DATE_WORDS)
    found.update(DATE_SIGNS.findall(folded))
    return found


def units(text: str) -> Counter[str]:
    """Return the units and currencies of a text."""
    folded = normalised(text)
    found = Counter(word for word in _split(folded) if word in UNITS)
    found.update(UNIT_SIGNS.findall(folded))
    return found


def names(text: str) -> tuple[str, ...]:
    """Return the names of a text in order: words with a capital, but for a first function word."""
    plain = " ".join(text.split())
    found = [match for match in _CAPITAL.finditer(plain) if match[0] != match[0].lower()]
    return tuple(
        match[0].casefold().removesuffix("'s")
        for match in found
        if match.start() or not any(match[0].casefold() in stop for stop in STOP_WORDS.values())
    )


def is_quantity(plain: str) -> bool:
    """Say whether a value, folded, starts with a number or a currency.

    >>> is_quantity("16 gb"), is_quantity("$500"), is_quantity("room 4")
    (True, True, False)
    """
    first = plain.split(" ", 1)[0] if plain else ""
    return bool(re.match(r"(?:[$€£¥₽₹₩]\s?|-)?\d", plain)) or (
        first in NUMBER_WORDS and first not in NOT_COUNTS
    )


def _split(folded: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", folded)
