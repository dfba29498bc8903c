"""What statements do to those before them: sequences as people write them, without a model.

Each sequence is written for this file; `+` has to stand as current at the end, `-` may not.
"""

from __future__ import annotations

import factual
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.facts.store import Facts
from hippocampus.storage.facts.rows import Origin
from tests.bench.sequences import FOLDER, outcome, sequences

CORRECTED = """
en | The dentist is on Monday at ten. > No, not Monday: Thursday at ten. | +Thursday | -on Monday
en | My cousin flies on Friday. > I said Friday but it is Saturday. | +Saturday | -flies on Friday
en | We meet in room 12. > Sorry, I meant room 14, not 12. | +14 | -in room 12
en | The parcel goes to Ada Lindqvist. > No, the parcel goes to Ole Brandt. | +Ole | -Ada
en | Ada runs the bakery. > Not Ada, it's Ole who runs the bakery. | +Ole | -Ada runs
de | Der Zahnarzt ist am Montag. > Nein, nicht Montag, sondern Donnerstag. | +Donnerstag | -am Montag.
de | Die Rechnung ist 40 Euro. > Korrektur: 45 Euro, nicht 40. | +45 | -ist 40
es | La cita es el lunes. > No, no el lunes: el jueves. | +jueves | -cita es el lunes
fr | Le rendez-vous est lundi. > Non, pas lundi : jeudi. | +jeudi | -est lundi
ru | Встреча в понедельник. > Нет, не в понедельник, а в четверг. | +четверг | -Встреча в понедельник
zh | 会议在周一。 > 不对，不是周一，是周四。 | +周四 | -会议在周一
"""
MOVED = """
en | I live in Hull. > We moved from Hull to Derby in May. | +Derby | -I live in Hull
en | I live in Hull. > I live in Derby now. | +Derby | -in Hull
en | We use Jenkins for the web build. > We switched from Jenkins to Buildkite for the web build. | +Buildkite | -use Jenkins for
en | I work as a cook in a school. > I am no longer a cook, I drive a bus. | +bus | -as a cook
de | Ich wohne in Bonn. > Ich wohne jetzt in Mainz. | +Mainz | -in Bonn
de | Ich wohne in Bonn. > Wir sind von Bonn nach Mainz gezogen. | +Mainz | -Ich wohne in Bonn
es | Vivo en Murcia. > Nos mudamos de Murcia a Lugo. | +Lugo | -Vivo en Murcia
fr | J'habite à Nantes. > J'ai déménagé de Nantes à Brest. | +Brest | -habite à Nantes
ru | Я живу в Перми. > Мы переехали из Перми в Омск. | +Омск | -живу в Перми
zh | 我住在成都。 > 我从成都搬到了杭州。 | +杭州 | -我住在成都
ar | أعيش في حلب. > انتقلنا من حلب إلى صيدا. | +صيدا | -أعيش في حلب
hi | मैं पुणे में रहता हूँ। > अब मैं पुणे में नहीं रहता। | +नहीं रहता | -पुणे में रहता हूँ
"""
UPDATED = """
en | the staging host is stg-04 > staging was migrated off stg-04 onto stg-11 | staging was migrated off stg-04 onto stg-11
en | our flight leaves from Gatwick at 6 > Oops, I mixed that up. It's Stansted, not Gatwick | Oops, I mixed that up. It's Stansted, not Gatwick
en | I'm a member of the chess club > I quit the chess club | I quit the chess club
en | I walk the dog every evening > We don't have a dog anymore | We don't have a dog anymore
de | Mein Fahrrad steht im Keller von Haus B > das Fahrrad ist jetzt nicht mehr im Keller, sondern in der Garage | das Fahrrad ist jetzt nicht mehr im Keller, sondern in der Garage
de | Der Termin beim Notar ist am 12. Mai > Korrektur: der Termin beim Notar ist am 21. Mai | Korrektur: der Termin beim Notar ist am 21. Mai
de | Ich rauche eine Schachtel am Tag > ich hab mit dem Rauchen aufgehört | ich hab mit dem Rauchen aufgehört
es | Trabajo de camarera en el Puerto Azul > dejé el Puerto Azul, ahora soy recepcionista en un hotel | dejé el Puerto Azul, ahora soy recepcionista en un hotel
es | mi hermana se llama Noelia > quería decir Noemí, no Noelia | quería decir Noemí, no Noelia
es | La reunión es el lunes a las 10 > corrección: la reunión es el martes a las 10 | corrección: la reunión es el martes a las 10
es | Voy a clases de yoga en el centro cívico > ya no voy a yoga | ya no voy a yoga
fr | Notre hébergeur est Nordix > on a quitté Nordix pour Helium | on a quitté Nordix pour Helium
fr | J'habite à Nantes, quartier Chantenay > J'ai déménagé de Nantes à Vannes | J'ai déménagé de Nantes à Vannes
fr | Le train part à 7h42 > erreur de ma part, il part à 7h24 | erreur de ma part, il part à 7h24
fr | Mon code client est B-118 > non, c'est B-181, pas B-118 | non, c'est B-181, pas B-118
fr | Je prends le bus 14 pour aller au bureau > je ne prends plus le bus | je ne prends plus le bus
ru | Мой телефон Самсунг А52 > сменил Самсунг на Пиксель | сменил Самсунг на Пиксель
ru | Хостинг у нас в Селектеле > переехали из Селектела в Яндекс Облако | переехали из Селектела в Яндекс Облако
ru | Поезд отходит в 18:40 > ошибся, поезд отходит в 18:04 | ошибся, поезд отходит в 18:04
ru | Бабушку зовут Мария Петровна > нет, не Мария, а Марина Петровна | нет, не Мария, а Марина Петровна
ru | Хожу в бассейн по средам > в бассейн больше не хожу | в бассейн больше не хожу
zh | 我用的手机是小米13 > 手机换成华为了,小米13给我妈了 | 手机换成华为了,小米13给我妈了
zh | 我住在杭州滨江区 > 我从杭州搬到宁波了 | 我从杭州搬到宁波了
zh | 会议室在三楼 > 说错了,会议室在五楼 | 说错了,会议室在五楼
zh | 我每天晚上去夜跑 > 我现在不夜跑了 | 我现在不夜跑了
ar | سيارتي تويوتا كورولا > بعت الكورولا واشتريت كيا سبورتاج | بعت الكورولا واشتريت كيا سبورتاج
ar | أسكن في حي النزهة > انتقلت من حي النزهة إلى حي الياسمين | انتقلت من حي النزهة إلى حي الياسمين
ar | رقم العقد 5521 > عفوا أخطأت، رقم العقد 5512 | عفوا أخطأت، رقم العقد 5512
ar | اسم المدرسة نورة > لا، أقصد نوال وليس نورة | لا، أقصد نوال وليس نورة
ar | أشرب القهوة كل صباح > لم أعد أشرب القهوة | لم أعد أشرب القهوة
hi | मेरा फ़ोन सैमसंग का है > सैमसंग बेच दिया, अब वनप्लस चलाता हूँ | सैमसंग बेच दिया, अब वनप्लस चलाता हूँ
hi | हम लखनऊ के गोमती नगर में रहते हैं > हम लखनऊ से कानपुर शिफ्ट हो गए | हम लखनऊ से कानपुर शिफ्ट हो गए
hi | ट्रेन शाम 6:15 पर है > माफ़ कीजिए, ट्रेन शाम 6:50 पर है | माफ़ कीजिए, ट्रेन शाम 6:50 पर है
hi | मेरी बहन का नाम कविता है > नहीं, कविता नहीं, सविता है | नहीं, कविता नहीं, सविता है
hi | मैं रोज़ जिम जाता हूँ > अब मैं जिम नहीं जाता | अब मैं जिम नहीं जाता
en | I drink coffee. > I drink tea instead of coffee now. | I drink tea instead of coffee now.
en | I go running on Mondays. > I go running on Fridays instead of Mondays now. | I go running on Fridays instead of Mondays now.
en | The tests take 3 minutes. > Correction: the test takes 5 minutes. | Correction: the test takes 5 minutes.
de | Ich trinke Kaffee. > Ich trinke statt Kaffee jetzt Tee. | Ich trinke statt Kaffee jetzt Tee.
ru | Мы используем Слак. > Вместо Слака мы теперь используем Тимс. | Вместо Слака мы теперь используем Тимс.
en | I take the 8:05 bus > scratch that, it's the 8:15 | scratch that, it's the 8:15
en | Lena is allergic to shellfish > I got that wrong, Lena is allergic to peanuts | I got that wrong, Lena is allergic to peanuts
en | The wifi password hint is the cat's name > No, that's not right, the hint is the dog's name | No, that's not right, the hint is the dog's name
es | El gato pesa 4 kilos > perdona, el gato pesa 5 kilos | perdona, el gato pesa 5 kilos
es | Ensayamos los martes > ahora ensayamos los jueves en vez de los martes | ahora ensayamos los jueves en vez de los martes
fr | Le chantier commence le 4 juin > pardon, le chantier commence le 14 juin | pardon, le chantier commence le 14 juin
ru | Тренировки по вторникам > тренировки перенесли со вторника на четверг | тренировки перенесли со вторника на четверг
zh | 快递单号尾号是8821 > 更正一下,尾号是8812 | 更正一下,尾号是8812
ar | اجتماعنا يوم الثلاثاء > نقلنا الاجتماع من الثلاثاء إلى الخميس | نقلنا الاجتماع من الثلاثاء إلى الخميس
ar | الموعد الساعة ٣ > آسف، الموعد الساعة ٤ | آسف، الموعد الساعة ٤
hi | मीटिंग सोमवार को होती है > मीटिंग अब सोमवार की बजाय बुधवार को होती है | मीटिंग अब सोमवार की बजाय बुधवार को होती है
en | My phone contract is with O2 > I switched from O2 to Giffgaff > I meant Smarty, not Giffgaff | I meant Smarty, not Giffgaff
en | Release day is Tuesday > release day moved from Tuesday to Thursday > moved again: release day goes from Thursday to Monday | moved again: release day goes from Thursday to Monday
en | Our treasurer is Ruth > Ruth isn't treasurer any more, it's Malik > Malik is no longer treasurer, now it's Ortega | Malik is no longer treasurer, now it's Ortega
de | Ich wohne in Kassel > Ich wohne jetzt in Fulda > bin wieder von Fulda nach Kassel zurückgezogen | bin wieder von Fulda nach Kassel zurückgezogen
es | Usamos Slack en el equipo > pasamos de Slack a Mattermost > dije Mattermost pero quería decir Rocket.Chat | dije Mattermost pero quería decir Rocket.Chat
fr | J'habite à Albi > j'ai déménagé d'Albi à Rodez > je suis revenue de Rodez à Albi | je suis revenue de Rodez à Albi
fr | le mot de ralliement est tulipe > ce n'est plus tulipe, c'est jonquille > ce n'est plus jonquille mais pivoine | ce n'est plus jonquille mais pivoine
ru | Живу в Самаре > переехал из Самары в Уфу > вернулся из Уфы в Самару | вернулся из Уфы в Самару
ru | Староста группы Костя > староста больше не Костя, теперь Вера > староста больше не Вера, выбрали Глеба | староста больше не Вера, выбрали Глеба
ru | Тариф у нас Базовый > перешли с Базового на Бизнес > оговорился, не Бизнес, а Бизнес Плюс | оговорился, не Бизнес, а Бизнес Плюс
zh | 我住在长沙 > 我从长沙搬到了株洲 > 我又从株洲搬回长沙了 | 我又从株洲搬回长沙了
zh | 我们用钉钉沟通 > 我们从钉钉换到飞书了 > 说错了,不是飞书,是企业微信 | 说错了,不是飞书,是企业微信
ar | أسكن في طنطا > انتقلت من طنطا إلى المنصورة > رجعت من المنصورة إلى طنطا | رجعت من المنصورة إلى طنطا
ar | رئيس الفريق سمير > رئيس الفريق لم يعد سمير بل هدى > رئيسة الفريق لم تعد هدى بل مروان | رئيسة الفريق لم تعد هدى بل مروان
ar | مزود الإنترنت عندنا نور > غيرنا من نور إلى سما > قلت سما وأقصد سماء | قلت سما وأقصد سماء
hi | मैं जयपुर में रहता हूँ > मैं जयपुर से उदयपुर शिफ्ट हो गया > उदयपुर से वापस जयपुर आ गया हूँ | उदयपुर से वापस जयपुर आ गया हूँ
hi | मोहल्ला समिति के अध्यक्ष वर्मा जी हैं > अध्यक्ष अब वर्मा जी नहीं, गुप्ता जी हैं > अध्यक्ष अब गुप्ता जी नहीं, शबाना जी हैं | अध्यक्ष अब गुप्ता जी नहीं, शबाना जी हैं
hi | बैठक का कमरा नीले रंग का है > कमरे का रंग नीले से पीला कर दिया > पीले की जगह फिर से नीला करा दिया | पीले की जगह फिर से नीला करा दिया
it | Vado in palestra il martedì > non vado più in palestra | non vado più in palestra
it | La fattura è di 40 euro > correzione: la fattura è di 45 euro | correzione: la fattura è di 45 euro
it | Vivo a Lecce > mi sono trasferita da Lecce a Bari | mi sono trasferita da Lecce a Bari
it | Mia sorella si chiama Noemi > volevo dire Naomi, non Noemi | volevo dire Naomi, non Noemi
pt | Faço ioga às terças > não faço mais ioga | não faço mais ioga
pt | A fatura é de 40 euros > correção: a fatura é de 45 euros | correção: a fatura é de 45 euros
pt | Moro em Belém > mudei de Belém para Natal | mudei de Belém para Natal
ja | 私は東京に住んでいます。 > 東京から大阪に引っ越しました。 | 東京から大阪に引っ越しました。
ja | 毎週ジムに通っています。 > もうジムには通っていません。 | もうジムには通っていません。
ja | 締め切りは5月10日です。 > 間違えました、締め切りは5月12日です。 | 間違えました、締め切りは5月12日です。
ko | 회의는 월요일이에요. > 아니요, 월요일이 아니라 목요일이에요. | 아니요, 월요일이 아니라 목요일이에요.
ko | 저는 서울에 살아요. > 서울에서 부산으로 이사했어요. | 서울에서 부산으로 이사했어요.
ko | 매일 헬스장에 가요. > 이제 헬스장에 안 가요. | 이제 헬스장에 안 가요.
en | My manager is Sarah. > My manager is now Tom. | My manager is now Tom.
en | We have 12 employees > We have 15 employees now | We have 15 employees now
en | My car is a Golf > My car is a Skoda now | My car is a Skoda now
en | The rent is 900 euros > The rent is now 950 euros | The rent is now 950 euros
de | Mein Chef ist Müller > Mein Chef ist jetzt Weber | Mein Chef ist jetzt Weber
fr | Notre bureau est à Lille > Notre bureau est maintenant à Metz | Notre bureau est maintenant à Metz
pt | O meu chefe é Rui > O meu chefe agora é Hugo | O meu chefe agora é Hugo
ru | Мой вес 80 кг > Мой вес теперь 78 кг | Мой вес теперь 78 кг
zh | 我每天跑5公里 > 我现在每天跑8公里 | 我现在每天跑8公里
hi | मेरा किराया 900 रुपये है > मेरा किराया अब 950 रुपये है | मेरा किराया अब 950 रुपये है
ja | 水曜の読書会に出ています。 > 先月で読書会をやめました。 | 先月で読書会をやめました。
ja | 部屋の広さは40平米です。 > 現在の部屋の広さは52平米です。 | 現在の部屋の広さは52平米です。
ko | 몸무게는 70킬로예요. > 지금 몸무게는 66킬로예요. | 지금 몸무게는 66킬로예요.
it | Guido una Panda > ho dato via la Panda | ho dato via la Panda
en | I swim twice a week. > These days I swim three times a week. | These days I swim three times a week.
en | My uncle works at Lidl. > My uncle now works at Aldi. | My uncle now works at Aldi.
en | Our vet is Dr. Hale. > Our vet is now Dr. Moss. | Our vet is now Dr. Moss.
de | Der Trainer meines Sohnes ist Herr Ott. > Der Trainer meines Sohnes ist jetzt Herr Pohl. | Der Trainer meines Sohnes ist jetzt Herr Pohl.
es | Mi tío trabaja en Renfe. > Mi tío trabaja ahora en Seat. | Mi tío trabaja ahora en Seat.
it | Il mio idraulico è Conti. > Il mio idraulico adesso è il Bruni. | Il mio idraulico adesso è il Bruni.
it | Corro 5 chilometri al giorno. > Adesso corro 8 chilometri al giorno. | Adesso corro 8 chilometri al giorno.
pt | Somos quatro no escritório. > Agora somos sete no escritório. | Agora somos sete no escritório.
pt | O meu tio trabalha no Funchal. > O meu tio agora trabalha em Faro. | O meu tio agora trabalha em Faro.
ja | 部長は木村さんです。 > 今の部長は小川さんです。 | 今の部長は小川さんです。
ja | 月に3回病院に行きます。 > 今は月に1回病院に行っています。 | 今は月に1回病院に行っています。
ko | 한 달에 두 번 등산해요. > 지금은 한 달에 네 번 등산해요. | 지금은 한 달에 네 번 등산해요.
hi | मेरे डॉक्टर का नाम सुरेश है। > अब मेरे डॉक्टर का नाम महेश है। | अब मेरे डॉक्टर का नाम महेश है।
zh | 我的房东是陈明。 > 我的房东现在是何勇。 | 我的房东现在是何勇。
en | Our build takes 14 minutes. > Our build currently takes 6 minutes. | Our build currently takes 6 minutes.
en | We host the wiki on Fly.io. > We moved the wiki from Fly.io to Hetzner. | We moved the wiki from Fly.io to Hetzner.
de | Meine Tochter spielt Geige. > Meine Tochter hat mit der Geige aufgehört. | Meine Tochter hat mit der Geige aufgehört.
de | Der Test dauert 12 Minuten. > Der Test dauert mittlerweile 5 Minuten. | Der Test dauert mittlerweile 5 Minuten.
"""
"""The last statement alone stands at the end."""
NEWER_FIRST = """
Wir kochen mit Induktion von Bosch > haben den Herd getauscht, statt Bosch jetzt Siemens
Usamos o Slack > usamos o Teams em vez do Slack
会議は月曜です。 > いや、月曜じゃなくて木曜です。
我的英文名是Kevin > 不对,应该是Calvin,不是Kevin
우리 팀은 슬랙을 써요. > 슬랙 대신 팀즈를 써요.
Anna owns the billing module. > Ownership of billing moved from Anna to Raj.
Anna owns the billing module. > Raj took over the billing module from Anna.
火车在7号站台。 > 我看错了，是12号站台，不是7号。
On utilise Slack au boulot. > Toute l'équipe est passée de Slack à Mattermost.
La table s'appelle clients_old. > J'ai renommé clients_old en customers.
"""
APART = """
We use Jenkins for the web build. > We switched from Jenkins to Buildkite for the mobile app.
Our kitchen wall is white. > We changed from white to green in the bathroom.
I buy bread at Hansen. > I switched from Hansen to Olsen for the fish.
Usamos Oracle para las nóminas. > Cambiamos de Oracle a Postgres para el inventario.
On utilise Slack pour le support. > On est passés de Slack à Teams pour les ventes.
We use Redis for the session cache. > For the job queue use RabbitMQ instead of Redis.
I meet Carla on Mondays. > The yoga class moved from Mondays to Wednesdays.
Our Paris office is on Rue Lafayette. > Our Lyon office moved from Rue Lafayette to Quai Perrache.
I use Firefox at home. > At work I switched from Firefox to Edge.
I use Postgres for the billing and Mongo for the catalog. > For the catalog we moved from Mongo to Postgres.
My standup is at 9:30. > The retro is at 15:00 now, not at 9:30.
My grandson plays handball and the flute. > My grandson stopped playing the flute.
The EU cluster has 12 nodes. > I was wrong, the US cluster has 9 nodes.
The unit tests take 3 minutes. > Actually the integration tests take 12 minutes.
Wir nutzen Jenkins für das Backend. > Für das Frontend nutzen wir jetzt GitLab CI statt Jenkins.
"""
OTHERWISE = """
My landlord is Mr. Petrov. > My landlord is not Mr. Petrov but Mr. Petersen.
I am allergic to penicillin. > I am not allergic to penicillin after all, the test was negative.
The main branch is called master. > The main branch isn't called master, it's called trunk.
The budget is 40,000 euros. > I made a mistake, the budget is 45,000 euros.
I bought the house in 2016. > I got the year wrong: I bought the house in 2017.
I live in Hull. > I moved to Derby last month.
I work at Siemens. > I started a new job at Bosch on Monday.
I work at Siemens. > I quit my job at Siemens.
I work at Siemens. > I left Siemens in March.
I work at Siemens. > I got laid off from Siemens.
We use Jira. > We replaced Jira with Linear.
Our CI runs on Jenkins. > Jenkins was replaced by GitHub Actions.
The deadline is March 3. > The deadline got pushed to March 17.
The deadline is March 3. > They moved the deadline to March 17.
The standup is at 9:30. > Standup has been moved to 10.
The service listens on port 8080. > We changed the port to 9090.
My doctor's appointment is on Tuesday. > The appointment was rescheduled to Friday.
I'm dating Chris. > Chris and I broke up.
I smoke ten cigarettes a day. > I quit smoking in January.
I take guitar lessons. > I dropped out of guitar lessons.
I have a gym membership at FitLife. > I cancelled my FitLife membership.
We have a dog named Rex. > Rex passed away last spring.
I'm on a keto diet. > I'm not doing keto anymore.
I drive a Honda Civic. > I sold the Civic last week.
The legacy API is still running. > The legacy API was decommissioned yesterday.
My rent is 900 euros. > The landlord raised the rent to 980.
My sister lives in Oslo. > My sister moved to Bergen.
I'm allergic to penicillin. > Turns out I'm not allergic to penicillin after all.
My birthday is May 3. > Sorry, typo, my birthday is May 30.
I'm learning Spanish. > I gave up on Spanish.
I play football on Sundays. > I had to stop playing football because of my knee.
I'm the team lead of Payments. > I stepped down as team lead of Payments.
I subscribe to Netflix. > I unsubscribed from Netflix.
We're on Python 3.10. > We upgraded to Python 3.12.
Postgres 14 is our database. > The database was upgraded from Postgres 14 to 16.
My dentist is Dr. Hall. > My new dentist is Dr. Wu.
My flight leaves at 7. > The airline changed my flight to 9.
I'm staying at my parents' place. > I moved out of my parents' place.
We meet in room 4. > We meet in room 6 from now on.
Ich wohne in Bonn. > Letzten Monat bin ich nach Mainz gezogen.
Meine Schwester wohnt in Ulm. > Meine Schwester ist nach Kiel gezogen.
Ich arbeite bei Siemens. > Ich habe im März bei Bosch angefangen.
Ich arbeite bei Siemens. > Ich habe bei Siemens gekündigt.
Die Abgabe ist am 3. März. > Die Abgabe wurde auf den 17. März verschoben.
Das Standup ist um 9:30. > Wir haben das Standup auf 10 Uhr verlegt.
Meine Miete ist 900 Euro. > Die Miete wurde auf 980 Euro erhöht.
Unsere CI läuft auf Jenkins. > Jenkins wurde durch GitHub Actions ersetzt.
Ich spiele Fußball im Verein. > Ich habe mit dem Fußball aufgehört.
Mein Zahnarzt ist Dr. Hall. > Mein neuer Zahnarzt ist Dr. Wu.
Wir nutzen Python 3.10. > Wir sind auf Python 3.12 umgestiegen.
Ich habe ein Abo bei Spotify. > Das Spotify-Abo habe ich gekündigt.
Wir haben einen Hund namens Rex. > Rex ist letztes Jahr gestorben.
Mein Termin ist am Dienstag. > Der Termin ist auf Freitag verschoben.
J'habite à Nantes. > Le mois dernier, j'ai déménagé à Brest.
Je travaille chez Orange. > J'ai quitté Orange en mars.
Je travaille chez Orange. > J'ai commencé chez Thales lundi.
La date limite est le 3 mars. > La date limite a été repoussée au 17 mars.
Le loyer est de 900 euros. > Le loyer a augmenté à 950 euros.
La réunion est mardi. > On a déplacé la réunion à jeudi.
Notre CI tourne sur Jenkins. > Jenkins a été remplacé par GitLab.
Je fume un paquet par jour. > J'ai arrêté de fumer.
Je suis abonné à Netflix. > J'ai résilié Netflix.
Mon dentiste est le docteur Petit. > Mon nouveau dentiste est le docteur Roux.
Nous avons un chien qui s'appelle Rex. > Rex est mort au printemps.
Vivo en Murcia. > El mes pasado me mudé a Lugo.
Mi hermana vive en Vigo. > Mi hermana se mudó a Gijón.
Trabajo en Seat. > Dejé Seat en marzo.
Trabajo en Seat. > Empecé a trabajar en Renfe el lunes.
La entrega es el 3 de marzo. > La entrega se aplazó al 17 de marzo.
El alquiler es de 900 euros. > Subieron el alquiler a 950 euros.
La cita es el martes. > Cambiaron la cita al viernes.
Usamos Jenkins. > Jenkins fue reemplazado por GitLab.
Fumo diez cigarrillos al día. > Dejé de fumar en enero.
Mi dentista es Pérez. > Mi nuevo dentista es Gómez.
Lavoro in Fiat. > Mi sono licenziato dalla Fiat.
La scadenza è il 3 marzo. > La scadenza è stata spostata al 17 marzo.
L'affitto è di 900 euro. > Hanno aumentato l'affitto a 950 euro.
Il mio dentista è Neri. > Il mio nuovo dentista è Verdi.
Usiamo Jenkins. > Jenkins è stato sostituito da GitLab.
Ho un abbonamento a Sky. > Ho disdetto Sky.
Moro em Belém. > Mês passado me mudei para Natal.
Trabalho na Vale. > Saí da Vale em março.
O prazo é 3 de março. > O prazo foi adiado para 17 de março.
Meu dentista é o Silva. > Meu novo dentista é o Souza.
Usamos o Jenkins. > O Jenkins foi substituído pelo GitLab.
Я живу в Перми. > В прошлом месяце я переехал в Омск.
Моя сестра живёт в Уфе. > Моя сестра переехала в Томск.
Я работаю в Сбере. > Я уволился из Сбера.
Я работаю в Сбере. > Я устроился на работу в Яндекс.
Дедлайн 3 марта. > Дедлайн перенесли на 17 марта.
Встреча во вторник. > Встречу перенесли на пятницу.
Аренда стоит 30000 рублей. > Аренду подняли до 33000 рублей.
Мы используем Jenkins. > Jenkins заменили на GitLab.
Я курю пачку в день. > Я бросил курить в январе.
У нас есть собака Рекс. > Рекс умер весной.
Мой стоматолог Иванов. > Мой новый стоматолог Петров.
أعيش في حلب. > انتقلت إلى صيدا الشهر الماضي.
أعمل في أرامكو. > استقلت من أرامكو.
موعد التسليم 3 مارس. > تم تأجيل موعد التسليم إلى 17 مارس.
الاجتماع يوم الثلاثاء. > تم نقل الاجتماع إلى الخميس.
الإيجار 900 ريال. > ارتفع الإيجار إلى 950 ريال.
मैं पुणे में रहता हूँ। > पिछले महीने मैं नागपुर शिफ्ट हो गया।
मैं इंफोसिस में काम करता हूँ। > मैंने इंफोसिस छोड़ दी।
मीटिंग मंगलवार को है। > मीटिंग को बदलकर शुक्रवार कर दिया गया।
किराया 900 रुपये है। > किराया बढ़कर 950 रुपये हो गया।
मैं सिगरेट पीता हूँ। > मैंने सिगरेट छोड़ दी।
我住在成都。 > 我上个月搬到了杭州。
我在阿里工作。 > 我从阿里离职了。
截止日期是3月3日。 > 截止日期推迟到3月17日。
会议在周二。 > 会议改到了周四。
房租是3000元。 > 房租涨到了3300元。
我们用Jenkins。 > Jenkins被GitLab取代了。
我每天抽十根烟。 > 我戒烟了。
我的牙医是王医生。 > 我的新牙医是李医生。
我们养了一只狗叫旺财。 > 旺财去世了。
東京に住んでいます。 > 先月、大阪に引っ越しました。
ソニーで働いています。 > ソニーを退職しました。
ソニーで働いています。 > 4月に任天堂に転職しました。
締め切りは3月3日です。 > 締め切りは3月17日に延期になりました。
会議は火曜日です。 > 会議は木曜日に変更になりました。
家賃は8万円です。 > 家賃が8万5千円に上がりました。
Netflixを契約しています。 > Netflixを解約しました。
서울에 살아요. > 지난달에 부산으로 이사했어요.
삼성에서 일해요. > 삼성을 그만뒀어요.
삼성에서 일해요. > 지난달에 네이버로 이직했어요.
마감은 3월 3일이에요. > 마감이 3월 17일로 미뤄졌어요.
회의는 화요일이에요. > 회의가 목요일로 변경됐어요.
월세는 50만원이에요. > 월세가 55만원으로 올랐어요.
넷플릭스를 구독해요. > 넷플릭스를 해지했어요.
Je bosse chez Capgemini. > J'ai posé ma démission chez Capgemini.
Ma voiture est une Clio. > J'ai vendu la Clio à mon voisin.
Le cours de yoga est le mardi. > Le cours de yoga a été décalé au jeudi.
Mon forfait coûte 20 euros par mois. > Mon forfait est passé à 25 euros par mois.
Le point d'équipe est à 9h30. > Le point d'équipe est désormais à 10h.
Je prends 5 mg de bisoprolol. > Je prends maintenant 10 mg de bisoprolol.
Je fais partie d'une chorale. > J'ai arrêté la chorale.
Mon médecin est le docteur Morel. > Mon nouveau médecin est le docteur Faure.
Notre API supporte le XML. > On a supprimé le support du XML.
Le bug vient du cache. > En fait non, le bug ne vient pas du cache mais du proxy.
Le train part de la voie 7. > Je me suis trompé, c'est la voie 12, pas la voie 7.
我住在南京。 > 我们上周搬到苏州了。
我在腾讯上班。 > 我上个月从腾讯离职了。
我的车是大众。 > 我把大众卖掉了。
我们用Slack沟通。 > 我们已经从Slack换成飞书了。
瑜伽课是周二。 > 瑜伽课改到周四了。
主表叫customer_data。 > 我把customer_data改名为accounts了。
房租每月2500元。 > 房东把房租涨到2800元了。
晨会是九点半。 > 晨会现在是十点。
我每天吃5毫克氨氯地平。 > 我现在每天吃10毫克氨氯地平。
我参加了合唱团。 > 我已经退出合唱团了。
我的医生是王大夫。 > 我现在的医生是李大夫。
后端用的是Node 18。 > 后端升级到Node 22了。
我每天抽烟。 > 我已经戒烟了。
أسكن في جدة. > انتقلنا للعيش في الرياض الشهر الماضي.
أعمل في شركة أوراكل. > قدمت استقالتي من أوراكل.
سيارتي كورولا. > بعت الكورولا الأسبوع الماضي.
نستخدم سلاك في الفريق. > انتقل الفريق من سلاك إلى تيمز.
درس اليوغا يوم الثلاثاء. > تم تغيير درس اليوغا إلى الخميس.
الإيجار 2500 ريال. > رفع المالك الإيجار إلى 2800 ريال.
الاجتماع اليومي الساعة 9. > الاجتماع اليومي الآن الساعة 10.
أتناول 5 ملغ من الدواء. > الآن أتناول 10 ملغ من الدواء.
أنا عضو في نادي الشطرنج. > تركت نادي الشطرنج.
خطيبتي اسمها هند. > انفصلت عن هند.
عندنا قطة اسمها ميشو. > ماتت ميشو في الصيف.
मैं दिल्ली में रहता हूँ। > हम लोग पिछले हफ़्ते गुड़गाँव शिफ्ट हो गए।
मैं टीसीएस में काम करता हूँ। > मैंने टीसीएस से इस्तीफ़ा दे दिया।
मेरी कार स्विफ्ट है। > मैंने स्विफ्ट बेच दी।
हम स्लैक इस्तेमाल करते हैं। > हमने स्लैक छोड़कर टीम्स अपना लिया।
योगा क्लास मंगलवार को है। > योगा क्लास अब गुरुवार को है।
टेबल का नाम customer_data है। > मैंने customer_data का नाम बदलकर accounts कर दिया।
किराया 12000 रुपये है। > मकान मालिक ने किराया बढ़ाकर 13500 रुपये कर दिया।
स्टैंडअप 9:30 बजे होता है। > स्टैंडअप अब 10 बजे होता है।
मैं 5 एमजी की दवा लेता हूँ। > अब मैं 10 एमजी की दवा लेता हूँ।
मैं क्रिकेट क्लब का सदस्य हूँ। > मैंने क्रिकेट क्लब छोड़ दिया।
ट्रेन प्लेटफॉर्म 7 से जाती है। > ग़लती हो गई, ट्रेन प्लेटफॉर्म 12 से जाती है, 7 से नहीं।
हमारी बिल्ली का नाम मीनू है। > मीनू पिछले महीने मर गई।
"""
"""The second statement alone stands at the end."""
BOTH_TRUE = """
en | I live in Hull. > My mother moved from Hull to Whitby.
en | I live in Hull. > Kim moved from Hull to Whitby last year.
en | I live in Hull. > The head office moved from Hull to Whitby.
en | I work at Siemens. > My sister switched from Siemens to Bosch.
de | Ich wohne in Jena. > Meine Mutter ist von Jena nach Erfurt gezogen.
es | Vivo en Sevilla. > Mi hermano se mudó de Sevilla a Cádiz.
en | I speak Danish. > No, I don't speak Dutch.
en | I am allergic to nuts. > I am allergic to milk.
en | I speak Danish. > I also speak Dutch now.
en | My sister lives in Hull. > My brother lives in Derby.
en | I live in Hull. > If I moved from Hull to Derby, what would I need?
en | I live in Hull. > We plan to move from Hull to Derby.
en | I live in Hull. > My boss says I live in Derby.
en | I live in Hull. > This week I am in Derby.
en | I like black tea. > Actually, I like green tea.
en | The docs build uses Jenkins. > We switched from Jenkins to Buildkite for the web build.
en | I weigh 80 kg. > I weigh 176 pounds.
en | I drink coffee in the morning. > I don't drink coffee after lunch.
en | Anna uses Vim. > I switched from Vim to Emacs.
de | Ich bin gegen Nüsse allergisch. > Ich bin gegen Milch allergisch.
de | Ich wohne in Bonn. > Diese Woche bin ich in Mainz.
es | Vivo en Murcia. > Mi hermana vive en Lugo.
fr | J'habite à Nantes. > Si j'habitais à Brest, ce serait plus simple.
ru | Я живу в Перми. > Моя сестра живёт в Омске.
zh | 我住在成都。 > 我姐姐住在杭州。
ar | أعيش في حلب. > أختي تعيش في صيدا.
hi | मैं पुणे में रहता हूँ। > मेरी बहन नागपुर में रहती है।
en | I play the violin > I play the piano too
en | My brother lives in Leeds > I took the train from Leeds to York yesterday
en | I drink tea in the morning > I don't drink tea after dinner
en | The printer is on the second floor > The coffee machine is not on the second floor but the third
de | Ich spreche Englisch > Ich lerne gerade Spanisch
de | Meine Schwester wohnt in Bonn > Ich fahre jede Woche von Bonn nach Köln
es | Me gusta el té verde > no me gusta el té negro
es | Hablo catalán > también hablo un poco de euskera
fr | Je joue du piano > je joue aussi du violoncelle
fr | Ma sœur travaille à Lyon > Je vais de Lyon à Dijon en train demain
ru | Люблю борщ > не люблю окрошку
ru | Брат живёт в Твери > завтра еду из Твери в Москву
zh | 我喜欢喝绿茶 > 我不喜欢喝红茶
zh | 我哥在南京上班 > 我明天从南京去上海
ar | أحب الشاي > أحب القهوة أيضا
hi | मुझे आम पसंद है > मुझे केला पसंद नहीं है
en | I like tea > I like coffee now
en | I have a cat > I have a dog now
en | My brother is Tom > My brother is Jim
en | My car is red > My car is a Skoda
en | We use Postgres for orders > We use Postgres for invoices now
en | The port of web is 80 > The port of api is 8080
en | The meeting with Ann is at 9 > The meeting with Bob is at 10
en | My mother is 60 > My father is 62
en | The desk of Ann is in Rome > The desk of Bob is in Rome
en | I work at Acme > I work in the garden on Sundays
de | Mein Bruder heißt Tom > Mein Bruder heißt Jan
zh | 我有一只猫 > 我有一只狗
en | I keep the notes of “The North Sea” in a folder > The drawings are on a disk
en | My boss is Henrike > my boss is on holiday in Spain since Monday
en | My car is a Golf > my car has new tyres since Friday
en | Tom is my cousin > Tom is my flatmate now
en | The database is Postgres 13 > the database has a read replica now
en | Our logo is green > the logo has a bird in it since the rebrand
en | Lena works at Siemens > Lena lives in Ulm now
de | Mein Büro ist im zweiten Stock > mein Büro hat jetzt einen neuen Drucker
ru | Наш офис на Тверской > в офисе теперь есть кофемашина
hi | मेरी टीचर रीना मैम हैं > मेरी टीचर अब ऑनलाइन पढ़ाती हैं
en | I live in Bergen > We moved to Postgres
en | My sister is vegan > I am no longer vegan
en | I eat meat > My sister no longer eats meat
it | Vivo a Lecce. > Il mio capo dice che vivo a Bari.
it | Non mangio più carne. > Mangio pesce il venerdì.
pt | Sou alérgica a nozes. > Sou alérgica a leite.
pt | Moro em Belém. > Esta semana moro em São Paulo.
ja | コーヒーが好きです。 > 紅茶も好きです。
ja | 本番DBはPostgresです。 > 開発DBはSQLiteに変えました。
ko | 여동생은 대구에 살아요. > 오빠는 광주에 살아요.
ko | 저는 서울에 살아요. > 내년에 서울에서 대전으로 이사할 계획이에요.
en | My sister is vegan > My sister is a doctor now
en | Room 12 is booked > Room 14 is booked now
en | The server 1 is down > The server 2 is down now
en | The meeting is on Monday > The meeting is on Zoom now
en | I have 2 cats > I have 3 dogs now
en | My office is in Berlin > My office is in building 4 now
en | My desk is in Rome > this week my desk is in Oslo
en | My friend is a Dane > My friend is a Buddhist now
en | My bus to work leaves at 7. > My bus back from work now leaves at 17.
de | Meine Tante ist Gärtnerin > Meine Tante ist jetzt Oma
it | Mia zia è una cuoca > Mia zia adesso è una nonna
ja | 姉は30歳です。 > 妹は今25歳です。
ko | 수영 수업은 3층에서 해요. > 미술 수업은 지금 5층에서 해요.
es | El tren de ida sale a las 7. > El tren de vuelta ahora sale a las 19.
zh | 我住在南京。 > 我们搬到GitHub了。
ja | 私は京都に住んでいます。 > GitHubに引っ越しました。
ko | 저는 서울에 살아요. > 저는 GitHub로 이사했어요.
xx | I live in Hull. > My parents moved to Derby last month.
xx | I live in Hull. > I moved to the second desk by the window.
xx | I live in Hull. > I moved to the backend team.
xx | I work at Siemens. > I joined the chess club on Monday.
xx | I work at Siemens. > I started a new book on Monday.
xx | I work at Siemens. > My wife started a new job at Bosch.
xx | I work at Siemens. > I left the Siemens badge at home.
xx | I work at Siemens. > I left Siemens at five to catch the train.
xx | The deadline for the grant is March 3. > The deadline for the paper got pushed to March 17.
xx | The grant deadline is March 3. > We moved the kick-off to March 17.
xx | The standup is at 9:30. > We moved the standup to Zoom.
xx | My rent is 900 euros. > My sister's rent was raised to 980.
xx | My dentist is Dr. Hall. > My son's new dentist is Dr. Wu.
xx | My car is a Golf. > My new bike is a Cube.
xx | My brother works at Lidl. > My brother now works in the evenings.
xx | I work at Bosch on weekdays. > I now work at the bakery on Saturdays.
xx | I quit smoking in 2010. > I smoke salmon every Christmas.
xx | I have guitar lessons on Mondays. > I cancelled my piano lessons.
xx | I have a dentist appointment on Friday. > I cancelled my appointment at the garage.
xx | My dentist is Dr. Hall. > I cancelled my dentist appointment.
xx | We use Jenkins for the web build. > Travis was replaced by GitHub Actions for the docs.
xx | We run Python 3.10 in production. > We upgraded to Postgres 16.
xx | We run Python 3.10 in production. > The data team upgraded to Python 3.12.
xx | I take 10 mg of lisinopril. > I now take 20 mg of metformin.
xx | My flight to Rome leaves at 7. > The airline changed my hotel to 9 Via Roma.
xx | I stopped drinking coffee after lunch. > I drink coffee in the morning.
xx | I drink coffee in the morning. > I stopped drinking coffee after lunch.
xx | I sold my old bike. > My new bike is red.
xx | I have a bike. > I sold my old bike.
xx | I have two cats, Mia and Leo. > I now have a dog named Rex.
xx | We have a dog named Rex. > Our cat died last spring.
xx | My grandmother lives in Rome. > My grandfather passed away last spring.
xx | The staging server runs on port 8080. > We changed the admin port to 9090.
xx | The API listens on port 8080. > The metrics port was changed to 9090.
xx | Our sprint starts on Monday. > Our retro now starts on Friday.
xx | I play tennis on Mondays. > My son plays tennis on Thursdays now.
xx | Ich wohne in Bonn. > Meine Eltern sind nach Mainz gezogen.
xx | Ich arbeite bei Siemens. > Ich bin letzte Woche in den Keller gezogen.
xx | Ich arbeite bei Siemens. > Ich habe bei Bosch einen Kurs angefangen.
xx | Die Abgabe des Berichts ist am 3. März. > Der Kickoff wurde auf den 17. März verschoben.
xx | Meine Miete ist 900 Euro. > Die Miete der Garage wurde auf 80 Euro erhöht.
xx | Ich trinke Kaffee. > Ich trinke freitags keinen Kaffee mehr.
xx | Mein Hausarzt ist Dr. Klein. > Mein neuer Zahnarzt ist Dr. Wu.
xx | J'habite à Nantes. > Mes parents ont déménagé à Brest.
xx | Je mange de la viande. > Je ne mange plus de viande le vendredi.
xx | La réunion d'équipe est mardi. > On a déplacé la réunion client à jeudi.
xx | Vivo en Murcia. > Mis padres se mudaron a Lugo.
xx | Como carne. > Ya no como carne los viernes.
xx | La cita con el dentista es el martes. > Cambiaron la cita con el abogado al viernes.
xx | Vivo a Lecce. > I miei si sono trasferiti a Bari.
xx | Mangio carne. > Non mangio più carne il venerdì.
xx | Moro em Belém. > Meus pais se mudaram para Natal.
xx | Como carne. > Não como mais carne às sextas.
xx | Я живу в Перми. > Родители переехали в Омск.
xx | Я ем мясо. > Я больше не ем мясо по пятницам.
xx | Мы живём в Перми. > Мы переехали в новый офис.
xx | Встреча с клиентом во вторник. > Планёрку перенесли на пятницу.
xx | 我住在成都。 > 我父母上个月搬到了杭州。
xx | 我吃肉。 > 我周五不吃肉了。
xx | 东区的房租是3000元。 > 车位的租金涨到了330元。
xx | 東京に住んでいます。 > 両親が先月、大阪に引っ越しました。
xx | 会議は火曜日です。 > 歓迎会は木曜日に変更になりました。
xx | 肉を食べます。 > 金曜日は肉を食べなくなりました。
xx | 서울에 살아요. > 부모님이 지난달에 부산으로 이사했어요.
xx | 회의는 화요일이에요. > 회식이 목요일로 변경됐어요.
xx | 저는 삼성에서 일해요. > 남편이 지난달에 네이버로 이직했어요.
xx | मैं पुणे में रहता हूँ। > मेरे माता-पिता नागपुर शिफ्ट हो गए।
xx | أعيش في حلب. > انتقل أخي إلى صيدا.
xx | الاجتماع الأسبوعي يوم الثلاثاء. > تم نقل حفل الوداع إلى الخميس.
"""


def rows(table):
    return [line.split(" | ") for line in table.strip().splitlines()]


def told(*statements, roles=()):
    facts = Facts(":memory:")
    for day, text in enumerate(statements, 1):
        role = roles[day - 1] if roles else "user"
        facts.remember(text, origin=Origin("s", None, "", role), at=f"2026-03-{day:02}")
    return facts


def current(facts):
    return [memory.content for memory in facts.memories()]


def test_what_a_statement_replaces_by_its_own_words_is_current_no_more():
    for _, statements, kept, gone in rows(CORRECTED) + rows(MOVED):
        facts = told(*statements.split(" > "))
        standing = "\n".join(current(facts))
        assert kept[1:] in standing
        assert gone[1:] not in standing
        (ended,) = [memory for memory in facts.memories(superseded=True) if memory.superseded_by]
        assert ended.valid_until is not None
        assert facts.check() == []


def test_of_what_is_corrected_moved_or_given_up_the_newest_alone_stands():
    for _, statements, standing in rows(UPDATED):
        facts = told(*statements.split(" > "))
        assert current(facts) == [standing]
        assert facts.check() == []


def test_a_statement_ends_what_it_says_in_other_words():
    for said in OTHERWISE.strip().splitlines():
        statements = said.split(" > ")
        assert current(told(*statements)) == statements[1:]


@pytest.mark.parametrize("said", NEWER_FIRST.strip().splitlines())
def test_what_may_have_changed_is_printed_before_what_was_said_earlier(said):
    old, new = said.split(" > ")
    printed = told(old, new).retrieve(f"{old} {new}")
    assert new in printed
    assert old not in printed.partition(new)[0]


@pytest.mark.parametrize("said", APART.strip().splitlines())
def test_a_change_of_one_thing_ends_nothing_of_another_with_the_same_value(said):
    assert current(told(*said.split(" > "))) == said.split(" > ")[::-1]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_of_sequences_that_others_wrote_nothing_ends_that_still_stands(path):
    wrong = [each.statements for each in sequences(path) if outcome(each).ended]
    assert wrong == []


def test_a_later_move_ends_what_a_move_from_a_known_place_left():
    facts = told("I live in Lyon.", "I moved from Lyon to Porto.", "I moved to Braga.")
    assert current(facts) == ["I moved to Braga."]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("I live in Hull.", "We moved from Hull to Derby in May.", "Derby"),
        ("Vivo en Murcia.", "Nos mudamos de Murcia a Lugo en mayo.", "Lugo"),
    ],
)
def test_the_place_of_a_move_is_without_its_time(old, new, place):
    assert [triple.object for triple in factual.relations(told(old, new))] == [place]


def test_what_is_both_true_stands():
    for row in rows(BOTH_TRUE):
        both = row[1].split(" > ")
        assert both[0] in current(told(*both))


def test_a_replaced_value_is_printed_as_current_nowhere():
    facts = told("I live in Hull.", "I live in Derby now.")
    for text in (facts.retrieve("Where do I live?"), facts.context_load()):
        assert "Derby" in text
        assert "Hull" not in text
    assert [found.memory.content for found in facts.recall("where do I live")] == [
        "I live in Derby now."
    ]
    assert [triple.object for triple in factual.relations(facts)] == ["Derby"]
    (old,) = facts.recall("live", as_of="2026-03-01T12:00:00Z")
    assert (old.memory.content, factual.history(facts, facts.memories()[0].id)[-1].content) == (
        "I live in Hull.",
    ) * 2


def test_what_has_another_value_is_named_where_the_newer_statement_does_not():
    facts = told("The deadline of atlas is March 3.", "They moved the deadline to March 17.")
    printed = facts.retrieve("When is the deadline of atlas?")
    assert "They moved the deadline to March 17. (about: The deadline of atlas is …)" in printed
    assert "about" not in told("My cook is Ann.", "My cook is now Bo.").retrieve("my cook")


def test_a_note_that_says_more_goes_on_without_what_has_ended():
    facts = Facts(":memory:")
    facts.store("I live in Hull. The cat is called Tom.", origin=Origin("s", 1, "", "user"))
    facts.remember("I live in Hull.")
    facts.remember("We moved from Hull to Derby.")
    assert set(current(facts)) == {"We moved from Hull to Derby.", "The cat is called Tom."}


def test_a_chain_leaves_its_last_link():
    facts = told("I live in Hull.", "I live in Derby now.", "I live in Hull again.")
    assert current(facts) == ["I live in Hull again."]


REPLACED = (
    ("The budget is 500 euros.", "The budget is 700 euros, not 500."),
    ("The car is red.", "No, the car is not red: it is blue."),
    ("The meeting is on Monday.", "I said the meeting is on Monday but it is on Thursday."),
    ("Vivo en Madrid.", "Ahora vivo en Sevilla."),
    ("The launch is on Tuesday.", "No, not Tuesday: the launch is on Thursday."),
    ("The key is in the drawer.", "I told you the key is in the drawer but it's in the safe."),
    ("Das Treffen ist um 14 Uhr.", "Ich sagte 14 Uhr, aber das Treffen ist um 15 Uhr."),
    ("La voiture est rue Verte.", "Non, pas rue Verte, la voiture est rue Noire."),
    ("Встреча в среду.", "Нет, не в среду, встреча в четверг."),
    ("Бюджет 500 евро.", "Исправление: бюджет 700 евро."),
    ("会议在周三九点四十分。", "我说的是周三九点四十分，但其实会议在周四十点。"),
    ("الاجتماع يوم الأربعاء.", "لا، ليس الأربعاء: الاجتماع يوم الخميس."),
    ("बैठक बुधवार को है।", "नहीं, बुधवार नहीं: बैठक गुरुवार को है।"),
)


def test_a_value_ends_by_the_words_of_its_correction():
    assert [current(told(*both)) for both in REPLACED] == [[both[1]] for both in REPLACED]


def test_a_correction_is_found_by_the_words_of_what_it_corrects():
    facts = told("The dentist is on Monday at ten.", "No, not Monday: Thursday at ten.")
    assert "(about: The dentist is on …)" in facts.retrieve("when is the dentist?")


PASTED = (
    "what does this say?\n> I prefer coffee over everything",
    "look:\n```\nI prefer coffee over everything\n```",
    "translate “I prefer coffee over everything” please",
    "<document>I prefer coffee over everything</document> summarise this",
    "<document>\n\nI prefer coffee over everything",
    "OBSERVATION:\nI prefer coffee over everything",
    "can you answer this?\n-----Original Message-----\nFrom: Bo\nI prefer coffee over everything",
    "My boss says I prefer coffee over everything.",
    "Suppose I prefer coffee over everything.",
    "Translate: I prefer coffee over everything",
    "Can you summarize this for me: I prefer coffee over everything",
    "Fasse zusammen: I prefer coffee over everything",
    "Subject: Drinks\nFrom: Bo\n\nI prefer coffee over everything",
    "Hi Bo,\n\nI prefer coffee over everything.\n\nBest regards,\nAnn",
)


@pytest.mark.parametrize("text", PASTED)
def test_what_is_pasted_reported_or_supposed_is_no_preference_and_ends_nothing(text):
    facts = told("I prefer tea.", text)
    assert "I prefer tea." in current(facts)
    assert [memory.content for memory in facts.memories() if memory.type == "preference"] == [
        "I prefer tea."
    ]
    assert "coffee" not in facts.context_load()
    assert "coffee" not in facts.retrieve("what do I prefer, coffee or tea?")


OWN_WORDS = (
    "> I prefer coffee over everything\n\nI live in Leeds.",
    "<document>\nI prefer coffee over everything\n</document>\nI live in Leeds.",
    "Use List<String> here.\nI live in Leeds.",
    "On Friday we met.\n\nI live in Leeds.",
)


@pytest.mark.parametrize("text", OWN_WORDS)
def test_what_follows_a_quoted_line_or_a_tag_is_kept(text):
    facts = told(text)
    assert "I live in Leeds." in facts.context_load()
    assert "coffee" not in facts.context_load()


def test_who_said_it_stands_in_every_line_that_is_not_the_users():
    facts = told("The boiler is in the cellar.", "The boiler is broken.", roles=("user", "tool"))
    lines = facts.retrieve("what about the boiler?").splitlines()
    assert "- [2026-03-02 fact, tool] The boiler is broken." in lines
    assert "- [2026-03-01 fact] The boiler is in the cellar." in lines


def test_nothing_relevant_is_an_empty_answer():
    facts = told("The boiler is in the cellar.", "I prefer tea.")
    assert facts.retrieve("Which songs were in the charts of 1987?") == ""
    assert facts.retrieve("the") == ""


@given(st.lists(st.text(min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=6))
def test_no_statement_is_lost(texts):
    """Each is current, or something that was said later stands for it."""
    with Facts(":memory:") as facts:
        kept = [
            outcome.memory
            for text in texts
            for outcome in factual.remember_many(facts, [text])
            if outcome.memory
        ]
        standing = {memory.id for memory in facts.memories()}
        for memory in kept:
            found = facts.get(memory.id)
            while found.superseded_by:
                found = facts.get(found.superseded_by)
            assert found.id in standing


def test_what_the_user_reports_of_others_is_marked_where_it_is_printed():
    facts = told("My boss says I hate tea.")
    assert "reported] My boss says I hate tea." in factual.call(
        facts, "recall_memories", {"query": "tea"}
    )


OTHER_SUBJECTS = """
I live in England. > I live in Leeds.
I work at Acme. > I work at the bakery on Sundays.
I eat meat. > I no longer eat red meat.
Порт web 80. > Неверно, порт api 8080.
I drink coffee > I stopped drinking coffee after 5pm
I eat meat > I don't eat meat on Fridays anymore
I play tennis > I stopped playing tennis with Oskar
The build takes 5 minutes > I said the tests take 9 minutes but it's fine
The port of web is 80 > Wrong, the port of api is 8080
We use tabs in Python > No, we use spaces in YAML
We use tabs > We use spaces
Ann likes tea > No, Bob likes tea
I have a cat > No, I have two dogs
Der Port von web ist 80 > Falsch, der Port von api ist 8080
El puerto de web es 80 > Mal, el puerto de api es 8080
Le port de web est 80 > Faux, le port de api est 8080
web的端口是80 > 不对，api的端口是8080
منفذ web هو 80 > خطأ، منفذ api هو 8080
web का पोर्ट 80 है > ग़लत, api का पोर्ट 8080 है
"""
BARE_CORRECTIONS = """
We use tabs > No, we use spaces
Wir benutzen Tabs > Nein, wir benutzen Leerzeichen
Nous utilisons des tabulations > Non, nous utilisons des espaces
Usamos tabuladores > No, usamos espacios
Мы используем табы > Нет, мы используем пробелы
نستخدم المسافات > لا، نستخدم الجدولة
हम टैब इस्तेमाल करते हैं > नहीं, हम स्पेस इस्तेमाल करते हैं
"""


def test_a_limit_or_a_correction_of_another_subject_ends_nothing():
    for pair in OTHER_SUBJECTS.strip().splitlines():
        both = pair.split(" > ")
        with Facts(":memory:") as facts:
            for statement in both:
                facts.remember(statement)
            assert set(current(facts)) == set(both)


@pytest.mark.parametrize(("seconds", "ends"), [(60, True), (86_400, False)])
def test_a_bare_correction_ends_only_what_came_right_before(seconds, ends):
    for pair in BARE_CORRECTIONS.strip().splitlines():
        first, second = pair.split(" > ")
        with Facts(":memory:") as facts:
            facts.remember(first, at=1e9)
            facts.remember(second, at=1e9 + seconds)
            assert (first in current(facts)) is not ends
