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
> name | My dentist is Dr. Lee | My dentist is Dr. Patel
> number | Our office has 40 employees | Our office has 55 employees
> contradict | The build is passing | The build is failing
> name | My new phone number is 555-1234 | My phone number is 555-9876
> name | Carol lives in Madrid | Carol moved from Madrid to Lisbon
> name | Carol lives in Madrid | Carol relocated to Lisbon
> negation | Tom eats meat | Tom does not eat meat
> negation | Tom drives a car | Tom no longer drives a car
> contradict | The API returns XML | The API now returns JSON
> name | The CEO of Acme is Jane | The CEO of Acme is now Paul
> name | We deploy to AWS | We switched from AWS to GCP
| name | Tom speaks French | Tom speaks German
| name | Tom visited Rome | Tom visited Paris
| name | Alice knows Bob | Bob knows Alice
| number | Room 4 is free | Room 5 is free
| number | Ticket 101 is closed | Ticket 102 is closed
| date | Tom ran on Monday | Tom ran on Tuesday
| name | Anna likes tea | Hanna likes tea
| unit | Tom ran 5 km | Tom ran 5 miles
| name | Emma's manager is Bob | Emily's manager is Bob
| multi | Tom has a dog | Tom has a cat
| other | The staging database is Postgres | The production database is MySQL
| other | Alice works at Google | Alice's brother works at Apple
| other | The red car is fast | The blue car is fast
| other | Tom likes cats more than dogs | Tom likes dogs more than cats
= same | My dog is called Rex | My dog is called Rex.
= same | Tom can't swim | Tom cannot swim
= reorder | Tom plays chess and tennis | Tom plays tennis and chess
> name | Anna wohnt in Hamburg | Anna ist nach München gezogen
> number | Die Miete beträgt 900 Euro | Die Miete beträgt 950 Euro
> name | Mein Chef ist Herr Müller | Mein Chef ist Frau Schmidt
> negation | Peter raucht | Peter raucht nicht mehr
> date | Der Termin ist am Montag | Der Termin wurde auf Freitag verschoben
> name | Annas Lieblingsfarbe ist Blau | Annas Lieblingsfarbe ist Grün
| name | Peter spricht Deutsch | Peter spricht Englisch
| number | Peter hat 2009 geheiratet | Peter hat 2009 ein Haus gekauft
| name | Anna mag Peter | Peter mag Anna
| negation | Anna mag Kaffee | Anna mag keinen Tee
= same | Anna wohnt in Hamburg | anna wohnt in Hamburg!
> name | Marie habite à Lyon | Marie a déménagé à Nice
> negation | Marie aime le café | Marie n'aime plus le café
> number | Le loyer est de 800 euros | Le loyer est de 850 euros
> name | Le directeur de l'école est Paul | Le directeur de l'école est Luc
> date | La réunion est lundi | La réunion est reportée à mardi
| name | Marie parle anglais | Marie parle italien
| name | Luc connaît Paul | Paul connaît Luc
| negation | Marie aime le thé | Marie n'aime pas le café
= same | Marie habite à Lyon | Marie habite à Lyon.
> name | Lucía vive en Sevilla | Lucía se mudó a Bilbao
> negation | A Lucía le gusta el café | A Lucía ya no le gusta el café
> number | El alquiler es de 700 euros | El alquiler es de 750 euros
> name | La capital de Ruritania es Ara | La capital de Ruritania es Bela
> name | Mi jefe es Carlos | Mi jefa es Marta
| name | Lucía habla inglés | Lucía habla francés
| name | Juan conoce a Ana | Ana conoce a Juan
| date | Juan corrió el lunes | Juan corrió el martes
= same | Lucía vive en Sevilla | lucía vive en Sevilla
> name | Анна живёт в Москве | Анна переехала в Казань
> negation | Анна любит кофе | Анна больше не любит кофе
> number | Аренда стоит 500 евро | Аренда стоит 600 евро
> name | Начальник Анны — Иван | Начальник Анны — Пётр
| name | Анна говорит на немецком | Анна говорит на французском
| name | Анна знает Ивана | Иван знает Анну
| negation | Анна любит чай | Анна не любит кофе
= same | Анна живёт в Москве | Анна живёт в Москве.
> name | 小明住在北京 | 小明搬到上海了
> number | 房租是3000元 | 房租是3500元
> negation | 小明喜欢咖啡 | 小明不喜欢咖啡
> negation | 小明喜欢咖啡 | 小明不再喜欢咖啡了
> name | 我的经理是王芳 | 我的经理是李强
> date | 会议是星期一 | 会议改到星期五
> number | 小明今年30岁 | 小明今年31岁
| name | 小明喜欢小红 | 小红喜欢小明
| name | 小明会说英语 | 小明会说法语
| number | 3号房间是空的 | 4号房间是空的
| name | 小明在谷歌工作 | 小红在谷歌工作
= same | 小明住在北京 | 小明住在北京。
> number | 家賃は8万円です | 家賃は9万円です
> name | 私の上司は佐藤さんです | 私の上司は鈴木さんです
> date | 会議は月曜日です | 会議は金曜日に変更されました
| name | 田中さんは英語を話します | 田中さんは中国語を話します
| name | 田中さんは佐藤さんが好きです | 佐藤さんは田中さんが好きです
| other | 本番のデータベースはMySQLです | 検証のデータベースはPostgresです
= same | 田中さんは東京に住んでいます | 田中さんは東京に住んでいます。
> negation | 민수는 커피를 좋아합니다 | 민수는 커피를 좋아하지 않습니다
> number | 월세는 50만원입니다 | 월세는 60만원입니다
| name | 민수는 지영을 좋아합니다 | 지영은 민수를 좋아합니다
> name | أحمد يعيش في القاهرة | أحمد انتقل إلى دبي
> negation | أحمد يحب القهوة | أحمد لا يحب القهوة
> number | الإيجار هو 500 دولار | الإيجار هو 600 دولار
> name | مدير أحمد هو سامي | مدير أحمد هو خالد
| name | أحمد يعمل في جوجل | سامي يعمل في جوجل
| name | أحمد يحب الشاي | أحمد يحب القهوة
| negation | أحمد يحب الشاي | أحمد لا يحب القهوة
= same | أحمد يعيش في القاهرة | أحمد يعيش في القاهرة.
> name | राम दिल्ली में रहता है | राम अब मुंबई में रहता है
> negation | राम को चाय पसंद है | राम को चाय पसंद नहीं है
> number | राम की उम्र 30 है | राम की उम्र 31 है
> name | मेरा प्रबंधक मोहन है | मेरा प्रबंधक सोहन है
| name | राम को चाय पसंद है | राम को कॉफ़ी पसंद है
| name | राम को सीता पसंद है | सीता को राम पसंद है
| negation | राम को चाय पसंद है | राम को कॉफ़ी पसंद नहीं है
= same | राम दिल्ली में रहता है | राम दिल्ली में रहता है।
> negation | Giulia mangia carne | Giulia non mangia più carne
> name | A Maria mora em Lisboa | A Maria mudou-se para o Porto
> negation | O João come carne | O João já não come carne
> name | Jan woont in Utrecht | Jan is verhuisd naar Leiden
> name | Ayşe Ankara'da yaşıyor | Ayşe İzmir'e taşındı
> name | Anna mieszka w Krakowie | Anna przeprowadziła się do Gdańska
> name | Олена живе в Києві | Олена переїхала до Львова
> name | Η Μαρία ζει στην Αθήνα | Η Μαρία μετακόμισε στην Πάτρα
> negation | Jan eet vlees | Jan eet geen vlees
> name | Our database is Postgres | We migrated from Postgres to MySQL
> name | The project lead is Dana | The project lead is no longer Dana
> number | The cache TTL is 300 seconds | The cache TTL was raised to 600 seconds
> name | User's timezone is UTC+1 | User's timezone is UTC+2
> name | My email is ann@example.com | My email is ann.b@example.com
> name | The main branch is called master | The main branch is now called main
> contradict | The tests are run with unittest | The tests are now run with pytest
| other | The API timeout is 30 seconds | The database timeout is 60 seconds
| number | Version 1.2 supports Python 3.8 | Version 1.3 supports Python 3.8
| date | In 2021 Ann lived in Rome | In 2022 Ann lived in Oslo
| other | Ann likes coffee in the morning | Ann likes tea in the evening
| name | Ann's birthday is 3 May | Bob's birthday is 3 May
| negation | The tests pass on Linux | The tests do not pass on Windows
| unit | The pipe is 5 cm wide | The pipe is 5 m long
| other | We use Postgres for storage | We now use Redis for caching
| other | The frontend uses React | The backend now uses Go
| name | Ann works with Bob | Ann works with Carol
| name | Ann met Bob in Rome | Ann met Carl in Rome
| number | Order 17 has shipped | Order 18 has shipped
| number | Build 233 failed | Build 234 failed
| number | The test ran in 5 seconds on Linux | The test ran in 9 seconds on Windows
| date | Ann was in Oslo in May | Ann was in Oslo in June
| date | The deploy on Monday failed | The deploy on Tuesday failed
| negation | Ann never eats fish | Ann eats meat
| negation | Ann does not like tea | Ann likes coffee
| name | File a.py imports b.py | File a.py imports c.py
| name | main.py calls parse | main.py calls render
| name | Endpoint /users returns JSON | Endpoint /orders returns XML
| unit | The tank holds 5 liters | The bottle holds 5 liters
| number | Ann scored 3 goals against Rome | Ann scored 2 goals against Oslo
| other | The server in Berlin has 16 GB of RAM | The server in Paris has 32 GB of RAM
| name | Ann's sister is Eve | Ann's sister is Mia
| name | My friend is Bob | My friend is Carl
| name | My cat is called Tom | My dog is called Rex
| name | Bob owes Ann 5 euros | Ann owes Bob 5 euros
| name | Paris is north of Lyon | Lyon is north of Paris
| name | Acme bought Beta | Beta bought Acme
| name | v1 is faster than v2 | v2 is faster than v1
| name | 小明比小红高 | 小红比小明高
| name | 小明的妹妹是小红 | 小明的弟弟是小刚
| number | 小明有两只猫 | 小红有三只猫
| date | 小明星期一跑步 | 小明星期二跑步
| negation | 小明不吃鱼 | 小明吃肉
| name | 田中さんは佐藤さんより背が高い | 佐藤さんは田中さんより背が高い
| date | 田中さんは月曜日に走ります | 田中さんは火曜日に走ります
| number | 3号室は空いています | 4号室は空いています
| name | 민수는 영어를 합니다 | 민수는 일본어를 합니다
| date | 민수는 월요일에 뜁니다 | 민수는 화요일에 뜁니다
| name | أحمد أطول من سامي | سامي أطول من أحمد
| date | ركض أحمد يوم الاثنين | ركض أحمد يوم الثلاثاء
| number | الغرفة 3 فارغة | الغرفة 4 فارغة
| name | राम सीता से लंबा है | सीता राम से लंबी है
| number | कमरा 3 खाली है | कमरा 4 खाली है
| date | राम सोमवार को दौड़ता है | राम मंगलवार को दौड़ता है
| name | Иван выше Петра | Пётр выше Ивана
| number | Комната 3 свободна | Комната 4 свободна
| date | Иван бегал в понедельник | Иван бегал во вторник
| name | Anna ist größer als Peter | Peter ist größer als Anna
| date | Anna läuft am Montag | Anna läuft am Dienstag
| number | Zimmer 3 ist frei | Zimmer 4 ist frei
| name | Marie est plus grande que Luc | Luc est plus grand que Marie
| date | Luc court le lundi | Luc court le mardi
| number | La chambre 3 est libre | La chambre 4 est libre
| name | Ana es más alta que Juan | Juan es más alto que Ana
| number | La sala 3 está libre | La sala 4 está libre
> number | Annas Gehalt beträgt 3.000 Euro | Annas Gehalt beträgt 3.500 Euro
> number | Le salaire de Luc est de 2 000 euros | Le salaire de Luc est de 2 500 euros
> negation | Anna isst Fleisch | Anna isst kein Fleisch
> negation | Luc mange de la viande | Luc ne mange pas de viande
> negation | Ana come carne | Ana no come carne
> negation | Иван ест мясо | Иван не ест мясо
> negation | 小明吃肉 | 小明不吃肉
> negation | 田中さんは肉を食べます | 田中さんは肉を食べません
> negation | 민수는 고기를 먹습니다 | 민수는 고기를 먹지 않습니다
> negation | أحمد يأكل اللحم | أحمد لا يأكل اللحم
> negation | राम मांस खाता है | राम मांस नहीं खाता है
> negation | Tom does not eat meat | Tom eats meat
> negation | Ann isn't vegetarian | Ann is vegetarian
> negation | Bob hasn't a car | Bob has a car
> contradict | Der Server ist online | Der Server ist offline
> name | 服务器的操作系统是Ubuntu | 服务器的操作系统改为Debian了
> contradict | 订单的状态是待处理 | 订单的状态是已发货
> contradict | 注文のステータスは保留中です | 注文のステータスは発送済みです
> contradict | Статус заказа — ожидает | Статус заказа — отправлен
> contradict | حالة الطلب هي قيد الانتظار | حالة الطلب هي تم الشحن
> contradict | ऑर्डर की स्थिति लंबित है | ऑर्डर की स्थिति भेजा गया है
= same | We can't ship on Friday | We cannot ship on Friday.
= same | Anna  lives   in Rome | Anna lives in Rome
= same | Ann’s manager is Bob | Ann's manager is Bob
= same | 小明住在北京！ | 小明住在北京
= reorder | Peter mag Tee und Kaffee | Peter mag Kaffee und Tee
= reorder | Luc aime le thé et le café | Luc aime le café et le thé
= reorder | A Ana le gusta el té y el café | A Ana le gusta el café y el té
"""


def pairs() -> list[tuple[str, str, str, str]]:
    """Return (expected, change, first, second)."""
    found = []
    for line in TABLE.strip().splitlines():
        head, first, second = line[2:].split(" | ") if line[1] == " " else line.split(" | ")
        found.append((line[0], head.strip().rstrip("|").strip(), first.strip(), second.strip()))
    return found
