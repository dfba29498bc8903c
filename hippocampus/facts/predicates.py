"""Which predicates hold one value at a time, and which many. Tables only.

A predicate that is in neither table holds many, unless the text says that its value changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from hippocampus.facts.tables import word_set

SINGLE = word_set(
    """lives_in works_at employer job role position title rank team department manager boss supervisor
    owner maintainer assignee lead leader ceo president captain name full_name first_name last_name
    surname nickname username handle email mail e_mail phone phone_number number address home_address
    city country hometown location timezone time_zone birthday birthplace date_of_birth age height
    weight size length width depth spouse married_to wife husband partner
    dentist doctor physician lawyer landlord accountant therapist mentor fiance girlfriend boyfriend
    marital_status relationship_status nationality gender pronouns religion blood_type payment_terms
    salary budget price cost fee rate rent revenue balance limit quota threshold timeout interval
    duration capacity temperature speed distance deadline due_date start_date end_date release_date
    launch_date date time day schedule scheduled status state stage phase priority severity version
    release port host hostname url domain region zone storage_backend database framework language_level
    default_branch branch license editor theme color colour font currency plan tier subscription
    default deploy_target target environment model provider backend frontend cache queue mode
    password_policy retention encoding charset locale format indent indentation count seats
    population capital mayor score grade level goal diet prefers_between headquarters venue room
    office floor mascot winner champion record holder sponsor vendor supplier"""
)
MULTIPLE = word_set(
    """likes loves enjoys knows speaks has owns uses visited visits plays reads watches studies
    friend friends brother sister sibling child son daughter pet hobby hobbies skill skills allergy
    allergies interest interests member members tag tags feature features dependency dependencies
    wants is prefers bought met wrote supports requires needs colleague"""
)
MODIFIERS = word_set(
    "favorite favourite default current main primary preferred official legal new next"
)
"""Words before an attribute that leave it one value at a time."""

HEADS = word_set(
    """meeting appointment interview flight launch release deadline exam wedding party event call
    address alter adresse arbeitgeber beruf budget chef chefin email frist geburtstag gehalt
    grenzwert größe hauptstadt kontostand lieblingsfarbe lieblingsessen lieblingsfilm limit miete
    passwort port preis priorität standort status telefonnummer temperatur termin version wohnort
    zeitzone besprechung treffen umsatz
    adresse âge anniversaire capitale chef couleur délai directeur directrice échéance loyer métier
    patron prix priorité réunion salaire statut taille téléphone ville
    alquiler apellido capital ciudad clave color contraseña correo cumpleaños dirección director
    directora edad estado fecha gerente jefa jefe límite nombre plazo precio presupuesto prioridad
    puerto reunión salario sueldo teléfono trabajo versión zona
    affitto altezza capo città colore compleanno indirizzo lavoro nome prezzo priorità riunione
    scadenza stato stipendio telefono età
    aluguel aniversário cargo chefe cidade cor endereço idade limite nome prazo preço prioridade
    reunião salário senha situação telefone orçamento
    adres baas budget kleur leeftijd prijs salaris stad status telefoonnummer vergadering verjaardag
    бюджет город должность зарплата имя начальник начальница директор цена срок статус адрес возраст
    телефон версия столица приоритет встреча дедлайн лимит порт пароль температура
    预算 生日 地址 电话 电话号码 邮箱 年龄 价格 工资 经理 老板 上司 职位 状态 版本 端口 密码 首都
    截止日期 名字 会议 温度 优先级 颜色 最喜欢的颜色 房租 城市 时区
    予算 誕生日 住所 電話番号 メール 年齢 価格 値段 給料 上司 部長 社長 役職 状態 ステータス バージョン
    ポート パスワード 首都 締め切り 締切 名前 会議 温度 優先度 好きな色 家賃 職業
    예산 생일 주소 전화번호 이메일 나이 가격 월급 상사 직책 상태 버전 포트 비밀번호 수도 마감일 이름 회의
    온도 직업
    बजट पता प्रबंधक मालिक शहर उम्र नाम कीमत वेतन स्थिति राजधानी जन्मदिन
    حالة اسم هاتف عاصمة موعد الميزانية العنوان العمر السعر الراتب الحالة المدير العاصمة الموعد ميزانية عنوان عمر سعر راتب مدير
    bütçe adres yaş fiyat maaş müdür durum başkent toplantı
    budżet adres wiek cena pensja szef status stolica termin spotkanie hasło"""
)
"""Nouns of many languages that name something of which there is one at a time."""

STATES: tuple[frozenset[str], ...] = tuple(
    frozenset(group.split())
    for group in (
        "open closed blocked done finished completed resolved cancelled canceled reopened in_progress",
        "enabled disabled",
        "on off",
        "online offline",
        "up down",
        "approved rejected pending",
        "paid unpaid overdue",
        "married single divorced engaged widowed",
        "alive dead",
        "full empty",
        "active inactive archived",
        "available unavailable",
        "running stopped paused",
        "public private",
        "valid invalid expired",
        "employed unemployed retired",
        "vegetarian vegan",
        "green red yellow",
        "passing failing",
        "working broken",
        "locked unlocked",
        "allowed forbidden",
        "healthy sick ill",
        "happy unhappy",
        "true false",
    )
)
"""Adjectives of which one holds at a time."""


KEPT_AS: Mapping[str, str] = MappingProxyType(
    {"state:": "is", "measure:": "is", "count:": "has", "prefers_between": "prefers"}
)
"""How predicates that tell apart which values exclude each other begin, and how they are said."""


def said_as(predicate: str) -> str:
    """Return a predicate as a person says it.

    >>> said_as("count:cats"), said_as("lives_in")
    ('has', 'lives_in')
    """
    return next((word for start, word in KEPT_AS.items() if predicate.startswith(start)), predicate)


def is_single(predicate: str) -> bool:
    """Say whether a predicate holds one value at a time.

    >>> is_single("lives_in"), is_single("likes"), is_single("favorite color")
    (True, False, True)
    """
    name = re.sub(r"[\s\-]+", "_", predicate.casefold()).strip("_")
    if name in MULTIPLE:
        return False
    if name in SINGLE or name in HEADS or name.startswith(("state:", "count:", "measure:")):
        return True
    parts = name.split("_")
    first, last = parts[0], parts[-1]
    return first in MODIFIERS or last in SINGLE or last in HEADS or first in HEADS
