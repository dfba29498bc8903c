"""Pairs of claims in many languages: which replace, which stand side by side, which are the same.

Each line: how the second stands to the first (`>` supersedes, `|` both are true, `=` the same), what
is changed, the first claim, the second.
"""

from __future__ import annotations

TABLE = """
> number | The budget is 100 euros | The budget is 500 euros
> number | Ann is 30 years old | Ann is 31 years old
> number | The server has 16 GB of RAM | The server has 32 GB of RAM
> number | The rent costs 900 dollars | The rent costs 950 dollars
> number | The timeout is 30 seconds | The timeout is 60 seconds
> number | Ann has 2 cats | Ann has 3 cats
> number | Ann has two cats | Ann has three cats
> number | The default port is 8080 | The default port is 9090
> number | ClientA pays Net30 | ClientA pays Net60
> unit | The package weighs 5 kg | The package weighs 5 lb
> unit | The limit is 5 MB | The limit is 5 GB
> unit | The budget is 100 euros | The budget is 100 dollars
> name | Ann's manager is Bob | Ann's manager is Carol
> name | Ann works at Siemens | Ann works at Bosch
> name | The manager of Ann is Bob | The manager of Ann is Carol
> name | User lives in Berlin | User lives in Bangkok
> name | I live in Berlin | I moved to Bangkok
> name | The owner of the repo is Ann | The owner of the repo is Bob
> name | Ann is married to Bob | Ann is married to Carl
> name | The capital of the game is Arn | The capital of the game is Bel
> name | My favorite color is blue | My favorite color is green
> date | The deadline is 3 May | The deadline is 10 May
> date | The meeting is on Monday | The meeting is on Friday
> date | The release date is March 1 | The release date is April 1
> date | The meeting is on Monday | The meeting was moved to Friday
> negation | User likes coffee | User does not like coffee
> negation | Ann is vegetarian | Ann is not vegetarian
> negation | Ann works at Siemens | Ann no longer works at Siemens
> negation | The feature is available in Europe | The feature is not available in Europe
> negation | User likes tea | User doesn't like tea anymore
> negation | User loves tea | User hates tea
> contradict | The door is open | The door is closed
> contradict | The status of the order is pending | The status of the order is shipped
> contradict | The flag is enabled | The flag is disabled
> contradict | The deploy target is staging | The deploy target changed to production
> contradict | User prefers dark mode | User prefers light mode
> contradict | User prefers tabs over spaces | User prefers spaces over tabs
> contradict | We use Postgres for storage | We use SQLite for storage
> contradict | Chose Postgres for storage | Chose SQLite for storage
> contradict | Ann's job is nurse | Ann's job is doctor
> contradict | The primary editor is vim | The primary editor is emacs
> contradict | Bob uses Vim | Bob switched from Vim to Emacs
= same | User lives in Berlin | user lives in Berlin.
= same | User lives in Berlin | The user lives in Berlin
= same | Ann is married to Bob | Ann is married to Bob!
= reorder | User likes tea and coffee | User likes coffee and tea
= reorder | The team has apples, pears and plums | The team has plums, apples and pears
= same | The user doesn't smoke | The user does not smoke
= same | My name is Ann | My name is Ann.
= same | Ann's manager is Bob | The manager of Ann is Bob
= extended | Ann works in the garden every day | Ann works in the garden every day because it calms her
| name | Ann lives in Berlin | Bob lives in Berlin
| name | Ann's manager is Bob | Carol's manager is Bob
| name | Ann likes Bob | Bob likes Ann
| name | Alice gave Bob a book | Bob gave Alice a book
| name | Ann knows Bob | Ann knows Carl
| name | The flight from Rome to Paris is short | The flight from Paris to Rome is short
| multi | User likes tea | User likes coffee
| multi | Ann speaks German | Ann speaks French
| multi | Ann knows Python | Ann knows Rust
| multi | Ann has a dog | Ann has a cat
| multi | Ann is a doctor | Ann is tall
| multi | Ann owns a car | Ann owns a boat
| multi | Ann is allergic to nuts | Ann is allergic to milk
| multi | Ann's friend is Bob | Ann's friend is Carl
| number | Invoice 17 is paid | Invoice 18 is paid
| number | Ticket 4711 is open | Ticket 4712 is open
| number | Ann ran 5 km on Monday | Ann ran 8 km on Tuesday
| number | Ann bought 3 apples | Ann bought 5 apples
| number | Room 4 has 10 seats | Room 5 has 10 seats
| number | Version 1.2 fixed the crash | Version 1.3 fixed the crash
| number | The 2023 report was late | The 2024 report was late
| date | Ann met Bob in May | Ann met Bob in June
| date | Ann has a meeting on Monday | Ann has a meeting on Friday
| date | Ann visited Rome in 2019 | Ann visited Rome in 2021
| date | The team plays on Saturday | The team plays on Sunday
| negation | Bob likes coffee | Ann does not like coffee
| negation | User likes coffee | User does not like coffee with sugar
| unit | Ann ran 5 km | Ann ran 5 miles
| unit | Ann paid 20 euros for lunch | Ann paid 20 dollars for lunch
| subject | The frontend budget is 100 euros | The backend budget is 500 euros
| subject | The deadline of Alpha is May | The deadline of Beta is June
| paraphrase | Ann lives in Berlin | Berlin is a city with many lakes
| other | Ann approved the plan of the team for the new office in town | Ann rejected the plan of the team for the new office in town
| other | Convert miles to kilometres for the user | Convert kilometres to miles for the user
| other | User lived in Berlin for years | User lives in Berlin for work
| other | Ann has a dog | Ann has a dog house
| other | The user writes C code at work | The user writes C++ code at work
| other | The report is due before lunch | The report is due after lunch
> number | Das Budget beträgt 100 Euro | Das Budget beträgt 500 Euro
> number | Anna ist 30 Jahre alt | Anna ist 31 Jahre alt
> name | Anna wohnt in Berlin | Anna wohnt in Hamburg
> name | Anna wohnt in Berlin | Anna ist nach Hamburg gezogen
> name | Anna arbeitet bei Siemens | Anna arbeitet bei Bosch
> name | Der Chef von Anna ist Bernd | Der Chef von Anna ist Karl
> negation | Anna mag Kaffee | Anna mag keinen Kaffee
> negation | Anna wohnt in Berlin | Anna wohnt nicht mehr in Berlin
> unit | Das Paket wiegt 5 kg | Das Paket wiegt 5 Pfund
> date | Die Besprechung ist am Montag | Die Besprechung ist am Freitag
= same | Anna mag Tee | Anna mag Tee.
= reorder | Anna mag Tee und Kaffee | Anna mag Kaffee und Tee
| multi | Anna mag Tee | Anna mag Kaffee
| multi | Anna kennt Bernd | Anna kennt Karl
| name | Anna wohnt in Berlin | Bernd wohnt in Berlin
| number | Rechnung 17 ist bezahlt | Rechnung 18 ist bezahlt
| date | Anna traf Bernd im Mai | Anna traf Bernd im Juni
| other | Anna mag Hunde | Anna mag Hunde nicht immer
> number | Le budget est de 100 euros | Le budget est de 500 euros
> number | Marie a 30 ans | Marie a 31 ans
> name | Marie habite à Paris | Marie habite à Lyon
> name | Marie habite à Paris | Marie a déménagé à Lyon
> name | Marie travaille chez Renault | Marie travaille chez Airbus
> name | Le directeur de Marie est Paul | Le directeur de Marie est Luc
> negation | Marie aime le café | Marie n'aime pas le café
> negation | Marie habite à Paris | Marie n'habite plus à Paris
= same | Marie aime le thé | Marie aime le thé.
| multi | Marie aime le thé | Marie aime le café
| multi | Marie parle allemand | Marie parle italien
| name | Marie habite à Paris | Paul habite à Paris
| date | Marie a vu Paul en mai | Marie a vu Paul en juin
> number | El presupuesto es de 100 euros | El presupuesto es de 500 euros
> number | María tiene 30 años | María tiene 31 años
> name | María vive en Madrid | María vive en Sevilla
> name | María vive en Madrid | María se mudó a Sevilla
> name | María trabaja en Telefónica | María trabaja en Iberia
> name | El jefe de María es Juan | El jefe de María es Luis
> negation | María habla alemán | María no habla alemán
> negation | María vive en Madrid | María ya no vive en Madrid
| multi | María habla alemán | María habla francés
| multi | María conoce a Juan | María conoce a Luis
| name | María vive en Madrid | Juan vive en Madrid
| number | La factura 17 está pagada | La factura 18 está pagada
> name | Giulia vive a Roma | Giulia vive a Milano
> name | Giulia vive a Roma | Giulia si è trasferita a Milano
> number | Giulia ha 30 anni | Giulia ha 31 anni
> negation | Giulia parla tedesco | Giulia non parla tedesco
| multi | Giulia parla tedesco | Giulia parla francese
| name | Giulia vive a Roma | Marco vive a Roma
> name | Ana mora em Lisboa | Ana mora no Porto
> name | Ana mora em Lisboa | Ana mudou-se para Braga
> number | Ana tem 30 anos | Ana tem 31 anos
> negation | Ana gosta de café | Ana não gosta de café
| multi | Ana gosta de café | Ana gosta de chá
> name | Анна живёт в Берлине | Анна живёт в Москве
> name | Анна живёт в Берлине | Анна переехала в Париж
> name | Анна работает в Яндексе | Анна работает в Сбере
> number | Бюджет составляет 100 евро | Бюджет составляет 500 евро
> number | Анне 30 лет | Анне 31 год
> negation | Анна любит кофе | Анна не любит кофе
> negation | Анна живёт в Берлине | Анна больше не живёт в Берлине
| multi | Анна любит чай | Анна любит кофе
| multi | Анна знает Ивана | Анна знает Петра
| name | Анна живёт в Берлине | Иван живёт в Берлине
| number | Счёт 17 оплачен | Счёт 18 оплачен
= same | Анна любит чай | Анна любит чай.
> name | 张三住在北京 | 张三住在上海
> name | 张三住在北京 | 张三搬到上海了
> name | 张三在华为工作 | 张三在腾讯工作
> name | 项目的经理是李四 | 项目的经理是王五
> number | 预算是100万 | 预算是500万
> number | 张三今年30岁 | 张三今年31岁
> negation | 张三喜欢咖啡 | 张三不喜欢咖啡
> negation | 张三住在北京 | 张三不再住在北京
> unit | 限额是5公里 | 限额是5英里
> date | 会议是星期一 | 会议是星期五
| multi | 张三喜欢茶 | 张三喜欢咖啡
| multi | 张三会说英语 | 张三会说法语
| name | 张三住在北京 | 李四住在北京
| number | 发票17已付款 | 发票18已付款
= same | 张三喜欢茶 | 张三喜欢茶。
> name | 田中さんは東京に住んでいます | 田中さんは大阪に住んでいます
> name | 田中さんは東京に住んでいます | 田中さんは大阪に引っ越しました
> name | 田中さんはソニーで働いています | 田中さんはトヨタで働いています
> number | 予算は100万円です | 予算は500万円です
> number | 田中さんは30歳です | 田中さんは31歳です
> negation | 田中さんはコーヒーが好きです | 田中さんはコーヒーが好きではありません
| multi | 田中さんはお茶が好きです | 田中さんはコーヒーが好きです
| name | 田中さんは東京に住んでいます | 鈴木さんは東京に住んでいます
= same | 予算は100万円です | 予算は100万円です。
> name | 민수는 서울에 살고 있습니다 | 민수는 부산에 살고 있습니다
> name | 민수는 서울에 살고 있습니다 | 민수는 부산으로 이사했습니다
> number | 민수는 30살입니다 | 민수는 31살입니다
| multi | 민수는 커피를 좋아합니다 | 민수는 차를 좋아합니다
| name | 민수는 서울에 살고 있습니다 | 지수는 서울에 살고 있습니다
> name | سارة تعيش في القاهرة | سارة تعيش في دبي
> name | سارة تعيش في القاهرة | انتقلت سارة إلى دبي
> negation | سارة تحب القهوة | سارة لا تحب القهوة
| multi | سارة تحب القهوة | سارة تحب الشاي
| name | سارة تعيش في القاهرة | ليلى تعيش في القاهرة
> name | राम दिल्ली में रहता है | राम मुंबई में रहता है
| name | राम दिल्ली में रहता है | श्याम दिल्ली में रहता है
> name | Η Μαρία ζει στην Αθήνα | Η Μαρία ζει στην Πάτρα
| name | Η Μαρία ζει στην Αθήνα | Η Ελένη ζει στην Αθήνα
"""


def pairs() -> list[tuple[str, str, str, str]]:
    """Return (expected, change, first, second)."""
    found = []
    for line in TABLE.strip().splitlines():
        head, first, second = line[2:].split(" | ") if line[1] == " " else line.split(" | ")
        found.append((line[0], head.strip().rstrip("|").strip(), first.strip(), second.strip()))
    return found
