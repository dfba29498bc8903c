"""How claims are worded, by language: sentence forms, negation, change, commentary. Tables only.

A form names its language, a piece of text that every match contains (tested first, as it is fast),
the sentence with `{s}` for the subject, `{o}` for the object and `{a}` for an attribute's name, and
the predicate. `{a}` in the predicate stands for the attribute itself, `uses_for` for it too where it
names something of which there is one (`we use Postgres as the database`), and else for what that is for.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from hippocampus.facts.tables import word_set


class Form(NamedTuple):
    """One way to word a claim."""

    trigger: str
    pattern: re.Pattern[str]
    predicate: str
    changes: bool
    """Whether the wording itself says that something changed."""
    negated: bool
    first: bool
    """Whether it is tried before others, whose subject would take in its verb."""


GENERAL = ("is", "has")
_FORMS = """
en | liv | {s} (?:live|lives|living|is living|am living|are living) in {o} | lives_in
en | resid | {s} (?:resides?) in {o} | lives_in
en | based in | {s} (?:is|am|are) based in {o} | lives_in
en | moved to | {s} (?:has |have |just |recently )*moved to {o} | lives_in !
en | moved from | {s} (?:has |have |just |recently )*moved from .+? to {o} | lives_in !
en | relocated to | {s} (?:has |have )?relocated to {o} | lives_in !
en | work | {s} works? (?:at|for) {o} | works_at
en | employed | {s} (?:is|am|are) employed (?:at|by) {o} | works_at
en | joined | {s} (?:has |just )?joined {o} | works_at !
en | work | {s} works? as (?:an? |the )?{o} | job
en | married to | {s} is married to {o} | spouse
en | years old | {s} (?:is|am) {o} years old | age
en | married to | {s} am married to {o} | spouse
en | born in | {s} was born in {o} | birthplace
en | born on | {s} was born on {o} | birthday
en | called | {s} (?:is|am) called {o} | name
en | call me | (?:please )?call me {o} | name
en | pays | {s} pays {o} | payment_terms
en | hose | (?:(?:we|i|the team|they) )?chose {o} (?:for|as)(?: the| our)? {a} | uses_for
en | like | {s} likes? {o} | likes
en | love | {s} loves? {o} | likes
en | enjoy | {s} enjoys? {o} | likes
en | hate | {s} hates? {o} | likes -
en | dislike | {s} dislikes? {o} | likes -
en | know | {s} knows? {o} | knows
en | speak | {s} speaks? {o} | speaks
en | prefer | {s} prefers? {o} | prefers
en | own | {s} owns? {o} | owns
en | use | {s} uses? {o} (?:for|as)(?: the| our| its| his| her| their)? {a} | uses_for
en | use | {s} uses? {o} | uses
en | deploy | {s} deploys? (?:to|on) (?!.+ (?:on|at|every|each) ){o} | deploys_to
en | allergic | {s} (?:is|am|are) allergic to {o} | allergy
en | rescheduled | {s} (?:was|has been|is) rescheduled (?:to|for) {o} | is !
en | to | {s} (?:was|has been|is) (?:raised|increased|lowered|reduced|cut|bumped|set) (?:from .+? )?to {o} | is !
en | moved to | {s} (?:was|has been|is) moved to {o} | is !
en | postponed | {s} (?:was|has been|is) postponed (?:to|until) {o} | is !
en | changed | the {a} of {s} (?:has |was |has been )?changed (?:from .+? )?to {o} | {a} !
en | changed | {s}['\u2019]s? {a} (?:has |was |has been )?changed (?:from .+? )?to {o} | {a} !
en | changed | {s} (?:has |was |has been )?changed (?:from .+? )?to {o} | is !
en | of | the {a} of {s} (?:is|are) {o} | {a}
en | 's | {s}'s {a} (?:is|are) {o} | {a}
en | s' | {s}s' {a} (?:is|are) {o} | {a}
en | my | my {a} (?:is|are) {o} | {a}
en | our | our {a} (?:is|are) {o} | {a}
en | has a | {s} has an? {a} of {o} | {a}
en | has | {s} (?:has|have) {o} | has
en | cost | {s} costs? {o} | price
en | weigh | {s} weighs? {o} | weight
en | i am | i am {o} | is
en | is | {s} is {o} | is
en | are | {s} are {o} | is
de | wohn | {s} wohn(?:t|e) in {o} | lives_in
de | leb | {s} leb(?:t|e) in {o} | lives_in
de | gezogen | {s} (?:ist|bin) (?:vor kurzem |kürzlich )?nach {o} (?:um)?gezogen | lives_in !
de | zieht | {s} zieht nach {o}(?: um)? | lives_in !
de | arbeit | {s} arbeite[t]? (?:bei|für) {o} | works_at
de | arbeit | {s} arbeite[t]? als {o} | job
de | mag | {s} mag {o} | likes
de | liebt | {s} liebt {o} | likes
de | hasst | {s} hasst {o} | likes -
de | kennt | {s} kennt {o} | knows
de | spricht | {s} spricht {o} | speaks
de | heißt | {s} heißt {o} | name
de | ich heiße | ich heiße {o} | name
de | Jahre alt | {s} ist {o} Jahre alt | age
de | kostet | {s} kostet {o} | price
de | wiegt | {s} wiegt {o} | weight
de | von | (?:der|die|das) {a} von {s} (?:ist|beträgt|lautet|liegt bei) {o} | {a}
de | s | {s}s {a} (?:ist|beträgt|lautet) {o} | {a}
de | mein | meine? {a} (?:ist|beträgt|lautet) {o} | {a}
de | wurde auf | {s} wurde auf {o} (?:verschoben|geändert|erhöht|gesenkt) | is !
de | betr | {s} beträgt {o} | is
de | liegt | {s} liegt bei {o} | is
de | hat | {s} hat {o} | has
de | ist | {s} ist {o} | is
fr | habite | {s} habite (?:à |en |au |aux )?{o} | lives_in
fr | vit | {s} vit (?:à|en|au|aux) {o} | lives_in
fr | déménagé | {s} (?:a|est) déménagé (?:à|en|au|aux) {o} | lives_in !
fr | travaille | {s} travaille (?:chez|pour|à) {o} | works_at
fr | travaille | {s} travaille comme {o} | job
fr | aime | {s} (?:n')?aime {o} | likes
fr | adore | {s} (?:n')?adore {o} | likes
fr | déteste | {s} déteste {o} | likes -
fr | connaît | {s} connaît {o} | knows
fr | parle | {s} parle {o} | speaks
fr | appelle | {s} s'appelle {o} | name
fr | m'appelle | je m'appelle {o} | name
fr | j'habite | j'habite (?:à |en |au |aux )?{o} | lives_in
fr | ans | {s} a {o} ans | age
fr | coûte | {s} coûte {o} | price
fr | pèse | {s} pèse {o} | weight
fr | est | (?:le |la |les |l')?{a} (?:de la |de l'|de |du |d'){s} est (?:de |d')?{o} | {a}
fr | est | mon {a} est {o} | {a}
fr | élève | {s} s'élève à {o} | is
fr | passé | {s} est passée? (?:de .+? )?à {o} | is !
fr | reporté | {s} (?:a été|est) (?:reporté|déplacé)e? (?:à|au) {o} | is !
fr | a | {s} (?-i:a) (?=(?:une?|des|du|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|le|la|les) |[0-9]|l'){o} | has
fr | est | {s} est (?:de |d')?{o} | is
es | viv | {s} viv[eo] en {o} | lives_in
es | vivo en | (?:yo )?vivo en (?-i:(?=[A-ZÀ-Þ])){o} | lives_in
es | mudé a | (?:yo )?me mudé a (?-i:(?=[A-ZÀ-Þ])){o} | lives_in !
es | trabajo | (?:yo )?trabajo (?:en|para) (?-i:(?=[A-ZÀ-Þ])){o} | works_at
es | resid | {s} reside en {o} | lives_in
es | mud | {s} se (?:ha )?mud(?:ó|ado) a {o} | lives_in !
es | trabaj | {s} trabaj[ao] (?:en|para) {o} | works_at
es | trabaj | {s} trabaj[ao] (?:como|de) {o} | job
es | gusta | a {s} (?:le|me) gustan? {o} | likes
es | ama | {s} ama {o} | likes
es | odia | {s} odia {o} | likes -
es | conoce | {s} conoce a {o} | knows
es | habla | {s} habla {o} | speaks
es | llama | {s} se llama {o} | name
es | me llamo | me llamo {o} | name
es | años | {s} tiene {o} años | age
es | cuesta | {s} cuesta {o} | price
es | pesa | {s} pesa {o} | weight
es | es | (?:el|la|los|las) {a} (?:de la|del|de) {s} es (?:de )?{o} | {a}
es | mi | mi {a} es {o} | {a}
es | cambi | {s} (?:cambió|se cambió|se movió|pasó) a {o} | is !
es | tiene | {s} tiene {o} | has
es | es | {s} es (?:de )?{o} | is
es | está | {s} está {o} | is
it | vive | {s} vive (?:a|in) {o} | lives_in
it | vivo | (?:io )?vivo (?:a|in) (?-i:(?=[A-ZÀ-Þ])){o} | lives_in
it | abito | (?:io )?abito (?:a|in) (?-i:(?=[A-ZÀ-Þ])){o} | lives_in
it | trasferit | (?:io )?mi sono trasferit[oa] (?:a|in) (?-i:(?=[A-ZÀ-Þ])){o} | lives_in !
it | lavoro | (?:io )?lavoro (?:per|presso|alla|in) (?-i:(?=[A-ZÀ-Þ])){o} | works_at
it | abita | {s} abita (?:a|in) {o} | lives_in
it | trasferi | {s} si è trasferit[oa] (?:a|in) {o} | lives_in !
it | lavora | {s} lavora (?:per|presso|alla|in|a) {o} | works_at
it | lavora | {s} lavora come {o} | job
it | piac | a {s} piac(?:e|ciono) {o} | likes
it | ama | {s} ama {o} | likes
it | odia | {s} odia {o} | likes -
it | conosce | {s} conosce {o} | knows
it | parla | {s} parla {o} | speaks
it | chiama | {s} si chiama {o} | name
it | anni | {s} ha {o} anni | age
it | costa | {s} costa {o} | price
it | pesa | {s} pesa {o} | weight
it | è | (?:il |lo |la |l'){a} (?:della|dello|dell'|del|di) {s} è (?:di )?{o} | {a}
it | ha | {s} ha {o} | has
it | è | {s} è (?:di )?{o} | is
pt | mora | {s} mora (?:em|no|na) {o} | lives_in
pt | moro | (?:eu )?moro (?:em|no|na) (?-i:(?=[A-ZÀ-Þ])){o} | lives_in
pt | vivo | (?:eu )?vivo (?:em|no|na) (?-i:(?=[A-ZÀ-Þ])){o} | lives_in
pt | mudei | (?:eu )?(?:me )?mudei(?:-me)? para (?:o |a )?(?-i:(?=[A-ZÀ-Þ])){o} | lives_in !
pt | trabalho | (?:eu )?trabalho (?:na|no|em|para a|para o|para) (?-i:(?=[A-ZÀ-Þ])){o} | works_at
pt | vive | {s} vive (?:em|no|na) {o} | lives_in
pt | mudou | {s} (?:se )?mudou(?:-se)? para {o} | lives_in !
pt | trabalha | {s} trabalha (?:na|no|em|para a|para o|para) {o} | works_at
pt | trabalha | {s} trabalha como {o} | job
pt | gosta | {s} gosta (?:de|do|da) {o} | likes
pt | odeia | {s} odeia {o} | likes -
pt | conhece | {s} conhece {o} | knows
pt | fala | {s} fala {o} | speaks
pt | chama | {s} (?:se chama|chama-se) {o} | name
pt | anos | {s} tem {o} anos | age
pt | custa | {s} custa {o} | price
pt | pesa | {s} pesa {o} | weight
pt | é | [oa] {a} (?:da|do|de) {s} é (?:de )?{o} | {a}
pt | tem | {s} tem {o} | has
pt | é | {s} é (?:de )?{o} | is
nl | verhuisd | {s} is verhuisd naar {o} | lives_in !
nl | woont | {s} woont in {o} | lives_in
nl | verhuisd | {s} is naar {o} verhuisd | lives_in !
nl | werkt | {s} werkt (?:bij|voor) {o} | works_at
nl | houdt | {s} houdt van {o} | likes
nl | heet | {s} heet {o} | name
nl | jaar oud | {s} is {o} jaar oud | age
nl | kost | {s} kost {o} | price
nl | van | (?:de|het) {a} van {s} is {o} | {a}
nl | heeft | {s} heeft {o} | has
nl | is | {s} is {o} | is
ru | жив | {s} жив[её]т в {o} | lives_in
ru | живу | (?:я )?живу в (?-i:(?=[А-ЯЁ])){o} | lives_in
ru | переехал | (?:я )?переехала? в (?-i:(?=[А-ЯЁ])){o} | lives_in !
ru | работаю | (?:я )?работаю (?:в|на) (?-i:(?=[А-ЯЁ])){o} | works_at
ru | прожива | {s} проживает в {o} | lives_in
ru | переехал | {s} переехала? в {o} | lives_in !
ru | работает | {s} работает (?:в|на) {o} | works_at
ru | люб | {s} любит {o} | likes
ru | ненавидит | {s} ненавидит {o} | likes -
ru | нрав | {s} нравится {o} | likes
ru | зна | {s} знает {o} | knows
ru | говорит | {s} говорит на {o} | speaks
ru | зовут | {s} зовут {o} | name
ru | лет | {s} {o} лет | age
ru | год | {s} {o} года? | age
ru | стоит | {s} стоит {o} | price
ru | весит | {s} весит {o} | weight
ru | составля | {s} составляет {o} | is
ru | перен | {s} (?:перенесли|перенес[её]н[ао]?) на {o} | is !
ru | — | {s} — (?:это )?{o} | is
ru | - | {s} - (?:это )?{o} | is
pl | mieszka | {s} mieszka w {o} | lives_in
pl | przeprowadzi | {s} przeprowadził[a]? się do {o} | lives_in !
pl | pracuje | {s} pracuje (?:w|dla) {o} | works_at
pl | lubi | {s} lubi {o} | likes
pl | ma | {s} ma {o} lat | age
pl | wynosi | {s} wynosi {o} | is
pl | jest | {s} jest {o} | is
pl | to | (?:mój|moja|moje|nasz|nasza|nasze) {a} to {o} | {a}
tr | yaşıyor | {s} {o}['\u2019](?:da|de|ta|te) yaşıyor | lives_in
tr | taşındı | {s} {o}['\u2019](?:ya|ye|a|e) taşındı | lives_in !
tr | çalışıyor | {s} {o}['\u2019](?:da|de|ta|te) çalışıyor | works_at
tr | seviyor | {s} {o} seviyor | likes
zh | 住在 | {s}(?:居)?住在{o} | lives_in
zh | 搬 | {s}(?:已经|已)?搬(?:家)?(?:到|去)了?{o}(?:了)? | lives_in !
zh | 工作 | {s}在{o}工作 | works_at
zh | 上班 | {s}在{o}上班 | works_at
zh | 喜欢 | {s}喜欢{o} | likes
zh | 讨厌 | {s}讨厌{o} | likes -
zh | 认识 | {s}认识{o} | knows
zh | 会说 | {s}会说{o} | speaks
zh | 岁 | {s}今?年?{o}岁 | age
zh | 的 | {s}的{a}(?:改为|改成|变成|变为|换成)了?{o} | {a} !
zh | 改 | {s}(?:改为|改成|改到|变成|变为|换成|推迟到)了?{o} | is !
zh | 的 | {s}的{a}[是为]{o} | {a}
zh | 叫 | {s}叫{o} | name
zh | 有 | {s}有{o} | has
zh | 是 | {s}是{o} | is
zh | 为 | {s}为{o} | is
ja | 住 | {s}は{o}に住んで(?:います|いる) | lives_in
ja | 引っ越し | {s}は{o}[にへ]引っ越(?:しました|した) | lives_in !
ja | 働 | {s}は{o}で働いて(?:います|いる) | works_at
ja | 勤 | {s}は{o}に勤(?:めて|務して)(?:います|いる) | works_at
ja | 好き | {s}は{o}が(?:大)?好き(?:です|だ|である)? | likes
ja | 嫌い | {s}は{o}が(?:大)?嫌い(?:です|だ|である)? | likes -
ja | 話し | {s}は{o}を話し(?:ます|ている|ています) | speaks
ja | 歳 | {s}は{o}歳(?:です|だ)? | age
ja | なりました | {s}の{a}は{o}になりました | {a} !
ja | 変更 | {s}の{a}は{o}に変更(?:されました|になりました|した|しました) | {a} !
ja | なりました | {s}は{o}になりました | is !
ja | 変更 | {s}は{o}に変更(?:されました|になりました|した|しました) | is !
ja | の | {s}の{a}は{o}(?:です|だ|である) | {a}
ja | は | {s}は{o}(?:です|だ|である) | is
ko | 살 | {s}(?:은|는) {o}에 (?:살고 있습니다|살고 있다|살아요|삽니다|산다) | lives_in
ko | 이사 | {s}(?:은|는) {o}(?:으로|로) 이사(?:했습니다|했다|했어요|갔습니다|갔다) | lives_in !
ko | 일 | {s}(?:은|는) {o}에서 일(?:합니다|한다|하고 있습니다|해요) | works_at
ko | 좋아 | {s}(?:은|는) {o}(?:을|를) 좋아(?:합니다|한다|해요) | likes
ko | 싫어 | {s}(?:은|는) {o}(?:을|를) 싫어(?:합니다|한다|해요) | likes -
ko | 살 | {s}(?:은|는) {o}살(?:입니다|이다|이에요) | age
ko | 의 | {s}의 {a}(?:은|는) {o}(?:입니다|이다|이에요|예요) | {a}
ko | 다 | {s}(?:은|는) {o}(?:입니다|이다) | is
ar | يعيش | (?:يعيش|تعيش) {s} في {o} | lives_in
ar | عيش | {s} (?:يعيش|تعيش) في {o} | lives_in
ar | سكن | {s} (?:يسكن|تسكن) في {o} | lives_in
ar | انتقل | {s} (?:انتقل|انتقلت) إلى {o} | lives_in !
ar | انتقل | (?:انتقل|انتقلت) {s} إلى {o} | lives_in !
ar | عمل | {s} (?:يعمل|تعمل) (?:في|لدى) {o} | works_at
ar | عمل | (?:يعمل|تعمل) {s} (?:في|لدى) {o} | works_at
ar | حب | {s} (?:يحب|تحب) {o} | likes
ar | حب | (?:يحب|تحب) {s} {o} | likes
ar | هو | {s} هو {o} | is
ar | هي | {s} هي {o} | is
hi | रहत | {s} {o} में रहत[ाीे] (?:है|हैं|हूँ) | lives_in
hi | काम | {s} {o} में काम करत[ाीे] (?:है|हैं|हूँ) | works_at
hi | पसंद | {s} को {o} पसंद (?:है|हैं) | likes
hi | है | (?:मेरा|मेरी|मेरे|हमारा|हमारी) {a} {o} है | {a}
hi | है | {s} (?:का|की|के) {a} {o} है | {a}
hi | है | {s} {o} है | is
el | ζει | {s} ζει (?:στην|στη|στο|στον) {o} | lives_in
el | μετακόμισε | {s} μετακόμισε (?:στην|στη|στο|στον) {o} | lives_in !
el | εργάζεται | {s} (?:εργάζεται|δουλεύει) (?:στην|στη|στο|στον) {o} | works_at
el | είναι | {s} είναι {o} | is
uk | жив | {s} живе (?:в|у) {o} | lives_in
uk | переїха | {s} переїхал[аи]? (?:до|в|у) {o} | lives_in !
uk | працює | {s} працює (?:в|у|на) {o} | works_at
uk | люб | {s} любить {o} | likes
sv | bor | {s} bor i {o} | lives_in
sv | flyttat | {s} (?:har )?flyttat till {o} | lives_in !
sv | arbetar | {s} (?:arbetar|jobbar) (?:på|för|hos) {o} | works_at
sv | gillar | {s} gillar {o} | likes
sv | är | {s} är {o} | is
"""

NEGATIONS = re.compile(
    r"""\b(?:does\ not|doesn't|do\ not|don't|did\ not|didn't|is\ not|isn't|are\ not|aren't|was\ not|wasn't
    |cannot|can\ not|can't|will\ not|won't|has\ not|hasn't|have\ not|haven't|should\ not|shouldn't
    |no\ longer|not|never|(?<!mora\ )(?<!vive\ )(?<!trabalha\ )(?<!moro\ )(?<!vivo\ )(?<!trabalho\ )no|none|neither|nor|without|anymore|any\ more|any\ longer|n't
    |nicht\ mehr|nicht|keine[nmrs]?|kein|nie|niemals|mehr
    |ne|n'|pas|plus|jamais|aucune?|non|nunca|jamás|tampoco|não|nem|mais|mai|più
    |niet|geen|nooit|не|нет|ни|никогда|больше|nie|inte|aldrig|değil|لا|لم|لن|ليس|ليست|δεν|ні)\b
    |ya\ no\b|já\ não\b|नहीं|不再|不|没有|没|無|ありません|ません|じゃない|ではない|ない|않|아닙니다|아니다|안\ """,
    re.VERBOSE | re.IGNORECASE,
)
REAL_NEGATIONS = frozenset(
    """does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't|was not|wasn't|cannot|
    can not|can't|will not|won't|has not|hasn't|have not|haven't|should not|shouldn't|no longer|not|
    never|no|none|neither|nor|without|anymore|any more|any longer|n't|nicht mehr|nicht|keine|keinen|
    keinem|keiner|keines|kein|nie|niemals|ne|n'|pas|jamais|aucun|aucune|non|nunca|jamás|tampoco|não|
    nem|mai|niet|geen|nooit|не|нет|ни|никогда|inte|aldrig|değil|नहीं|لا|لم|لن|ليس|ليست|δεν|ні|ya no|já não|不再|不|
    没有|没|無|ありません|ません|じゃない|ではない|ない|않|아닙니다|아니다|안""".replace("\n", "")
    .replace("    ", "")
    .split("|")
)
"""What negates by itself; `mehr`, `plus`, `più` do only beside one of these."""

CHANGES = re.compile(
    r"""\b(?:now|nowadays|currently|from\ now\ on|as\ of\ (?:today|now)|these\ days|instead|no\ longer
    |anymore|switched|changed|updated|replaced|moved|since\ then|jetzt|inzwischen|mittlerweile|neuerdings
    |nun|nunmehr|ab\ sofort|maintenant|désormais|dorénavant|actuellement|ahora|actualmente|ora|adesso
    |attualmente|agora|atualmente|nu|tegenwoordig|теперь|сейчас|отныне|teraz|obecnie|artık|şimdi|الآن
    |حاليا|अब|τώρα|тепер|зараз|numera)\b|现在|目前|如今|今は|現在は?|今では|이제|지금은?""",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that say that something is so now and was not before."""

OPENINGS = re.compile(
    r"^(?:actually|update|correction|fyi|note|also|by the way|btw|well|ok|okay|so|and|"
    r"remember(?: that)?|please remember(?: that)?|i think|übrigens|außerdem|au fait|por cierto|"
    r"кстати|对了|ちなみに)\s*[,:;-]?\s+",
    re.IGNORECASE,
)
ARTICLES = re.compile(
    r"^(?:the|a|an|der|die|das|den|dem|ein|eine|einen|le|la|les|l'|un|une|el|los|las|una|il|lo|gli|"
    r"i|o|os|as|um|uma|de|het|een|o|η|το)\s+|^l'",
    re.IGNORECASE,
)
FIRST_PERSON = word_set(
    """i me my myself we us our ich mich wir je j' moi nous yo me nosotros io noi eu nós ik wij я мы меня ja my
    我 我们 私 僕 俺 나 저 أنا मैं εγώ jag vi user the_user"""
)


@functools.cache
def forms() -> tuple[Form, ...]:
    """Return the forms of all languages, in the order in which they are tried: special ones first."""
    made = [_form(line) for line in _FORMS.strip().splitlines()]
    return tuple(sorted(made, key=lambda form: (not form.first, form.predicate in GENERAL)))


def _form(line: str) -> Form:
    _, trigger, sentence, predicate = (part.strip() for part in line.split(" | "))
    name, _, sign = predicate.partition(" ")
    pattern = sentence
    for group, letter in (("subject", "s"), ("object", "o"), ("attribute", "a")):
        first, *rest = pattern.split(f"{{{letter}}}")
        pattern = first + (f"(?P<{group}>.+?)" if rest else "") + f"(?P={group})".join(rest)
    compiled = re.compile(f"{pattern}$", re.IGNORECASE)
    passive = "{s} (?:was|has been|is) " in sentence
    return Form(trigger.lower(), compiled, name, sign == "!", sign == "-", passive)
