"""English: data alone."""

from __future__ import annotations

STOP_WORDS = """
a about above after again all also am an and any are aren't as at be been before being both
but by can can't could couldn't did didn't do does doesn't doing don't down during each few
for from further had hadn't has hasn't have haven't having he her here hers him his how i if
in into is isn't it it's its itself just me more most my no nor not of off on once only or
other our out over own same she should shouldn't so some such than that that's the their them
then there these they this those through to too under until up very was wasn't we were weren't
what when where which while who whom whose why will with won't would wouldn't you your yours s
t d ll m re ve don doesn didn isn wasn aren might must shall may let get got tell please know
goes going gone went many much kind kinds
"""

PHRASES = {
    "first": "i me we us user",
    "third": "he she they it that this there which who",
    "when": r"""(?:just |only )?(?:yesterday|recently|lately|already|finally)|(?:(?:earlier|late|later|early|back|right) )?(?:this|last|next|the other|over the|in(?: early| late)?|on|since|as of|by)\s
        (?:the )?(?:past )?(?:night|day|morning|week|weekend|month|year|spring|summer|autumn|fall|winter|start of \w+|end of \w+|(?:{days})(?<!s)|(?:19|20)\d\d)(?: \d{1,4})?(?:st|nd|rd|th)?
        |(?:an?|one|two|three|four|five|six|a few|a couple of|several|\d+) (?:day|week|month|year|hour)s? ago|(?:because|due to|thanks to|so|for good|altogether|completely|entirely)(?: .+)?|to (?:an?|some|one of) .+""",
    "days": "(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|(?-i:May)|june|july|august|september|october|november|december|noon|midnight",
    "numbers": "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|once|twice|half)(?: times)?",
    "articles": "the",
    "indefinite": "an?",
    "copulas": "(?:is|are)(?: (?:in|at|with))?|is (?:called|named)|(?:lives?|works?|studies|study) (?:in|at|for)",
    "and_words": "and",
    "but_words": "but",
    "joins": "and|or|but|when|if|because|with",
    "now_words": "now|currently",
    "again_words": "again|these days|at the moment|anymore|currently|now|again now|since .+",
    "interjections": "no+|nope|nah|oh+|ah+|hm+|ugh|argh|oops|well|actually",
    "conditions": "if|suppose|supposing|imagine|what if|let's say",
    "forwarded": "begin forwarded message|forwarded message|original message",
    "headers": "from|subject",
    "greetings": "hi|hello|dear",
    "closings": r"(?:best|kind|warm)\b[^\n]*|regards|sincerely|yours",
    "wrote": r"on\b[^\n]{5,120}wrote",
    "please": "please|(?:can|could) you(?: please)?",
    "rework": "translate|summari[sz]e|proofread|paraphrase|rephrase|rewrite|shorten|classify|reply to",
    "preference": r"""\bI(?: (?:really|much|strongly|still|also|generally|usually))* (?:prefer|like|love|hate|dislike|enjoy|don['’]t like|do not like
        |can['’]t stand|favou?r)\b|\bI(?:['’]d| would) (?:rather|prefer)\b|\b(?:my|our) (?:favou?rite|preferred|preference)\b
        |\b(?:from now on|in (?:the )?future|by default|going forward|whenever you|each time you)\b""",
    "decision": r"""\b(?:we|I)(?:['’]ve| have)? (?:finally |now )?(?:decided|chosen|chose|agreed|settled on)\b
        |\blet['’]?s (?:go with|use|stick (?:with|to)|switch to|keep)\b|\b(?:I|we)['’]ll (?:go with|take|stick)\b
        |\bwe(?:['’]ll| will|['’]re going to| are going to) (?:use|go with|keep|switch|adopt|drop)\b
        |\b(?:go|going) with (?:option|the|plan|variant)\b|\b(?:final )?decision(?: is|:)""",
    "lasting": r"\b(?:allergic|born (?:in|on)|i speak|my name is|i['’]m called|i['’]m an? [\w-]+$|i am an? [\w-]+$)",
    "about_user": r"\b(?:the )?(?:user|customer|operator|owner|admin)s?\b|\byou(?:r)? (?:prefer|like|want|told|asked)|MEMORY\.md|\[\d{4}-\d\d-\d\d[^\]]*\]|<memory",
    "orders": r"\b(?:ignore|disregard|forget|remember|memori[sz]e|always|never|must|instructions?|system prompt)\b",
    "forgotten": r"""\bI (?:(?:really|just|also) )*(?:(?:do|ca|did|could)n['’]?t|(?:do|did|could) not) (?:\w+ )?remember\b
        |\bI (?:cannot|can not|no longer) remember\b|\bI['’]m not sure I remember\b""",
}

RULES = {
    "own": r"""\b(?:i|we|me|us|my|our|mine|ours|i'm|i've|i'd|we're|we've)\b""",
    "people": """sister brother mother father mum mom dad wife husband son daughter kids child friend boss manager colleague partner cousin neighbour
        neighbor aunt uncle grandmother grandfather grandma grandpa flatmate roommate girlfriend boyfriend niece nephew team teammate parents grandparents family""",
    "drops_subjects": False,
    "names_are_cased": True,
    "hypothetical": r"""\b(?:if|gonna|suppos\w+|imagine|would|wouldn't|could|might|(?-i:may)|maybe|perhaps|probably|wish|unless|will|won't|someday|considering
        |plan(?:s|ning)?\s(?:to|on)|thinking\s(?:of|about)|think\s(?:of|about)|wants?\s+to|hop(?:e|ing)\sto|going\sto|one\sday|dream\w*\sof|what\sif|in\scase
        |next\s(?:week|month|year)|tempted|pretend|let's\ssay|should\swe|shall)\b|'(?:d|ll)\b""",
    "reported": r"""(?<!\bi\s)(?<!\bwe\s)(?<!i've\s)\b(?:says?|said|saying|thinks?|claims?|told|tells|telling|believes?|insists?|reckons?|assumes?|swears?|heard|rumou?rs?
        |wrote|writes|accuses?|keeps\scalling|quot(?:e|es|ing)|according\sto)\b""",
    "temporary": r"""(?<!since\s)(?<!as\sof\s)\b(?:today|tonight|tomorrow|this\s(?:week|weekend|month|morning|afternoon|evening|summer|winter|spring|autumn|semester|year)
        |for\s(?:now|today|the\s(?:moment|week|weekend|summer|time\sbeing|next)|an?\s(?:few\s|couple\sof\s)?(?:days?|weeks?|months?))|temporar\w+|until|till
        |just\sfor|while|during|visiting|(?<!over the )(?<!over )holidays?|vacation|between)\b""",
    "addition": r"""\b(?:as\swell|also|too|additionally|besides|in\saddition|another|both|plus|sometimes|occasionally|weekends?|second|either)\b""",
    "correction": r"""^\W*(?:(?:no+|nope|nah|wrong|wait|oops|sorry|ah|oh|hm+|ugh|argh)(?:\s*[,.:;!—–-]|\s+(?=sorry|wait|actually|not\b|i\smeant|wrong))
        |(?:correction|corrected|actually|scratch\sthat|i\smeant|turns\sout|my\smistake|my\sbad|i\smisspoke|typo|not\squite|to\scorrect|let\sme\scorrect)\b)
        |\b(?:i\smeant|i\s(?:said|wrote|told\syou)\b.+\b(?:but|though)|i\smisspoke|i\swas\swrong|i\sgot\s(?:that|it|this)\swrong
        |(?:that|it|this)(?:'s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct|true))|my\s(?:mistake|bad)|typo
        |i\s(?:mixed|misremembered|misread|mistyped)|mixed\s(?:that|it|this|them)\sup)\b""",
    "now": r"""(?:(?<=\bmy\s)|(?<=\bour\s))new\b(?!\s(?:colleague|friend|neighbou?r|teammate|flatmate|roommate|hobby|project|client|favou?rite))|\b(?:now|currently|again|nowadays|back\s(?:to|on|in|at|with)
        |(?:moved|changed|switched|relocated|migrated|renamed|pushed|bumped|rescheduled|postponed|promoted)\sto|these\sdays|from\snow\son|as\sof(?:\s(?:today|now))?|became
        |has\sbecome|have\sbecome|since)\b""",
    "changed": r"""\b(?:moved|moving|moves|switch(?:ed|es|ing)|migrat(?:ed|es|ing)|chang(?:ed|es|ing)|relocat(?:ed|es|ing)|transferred|converted|renamed|upgrad(?:ed|ing)
        |downgraded|bumped|raised|lowered|reduced|increased|pushed|rescheduled|postponed|ported|shifted|swapped|hopped|flipped|transition(?:ed|ing)
        |rebranded|promoted|demoted|dropped|brought|joined|started|accepted|goes|went\sback|back\sfrom)\b""",
    "moves": (r"(?:from|off) {old} (?:over |back |up |down )?(?:on)?to {new}",),
    "swaps": (
        r"{new}, not (?:in |on |at |to |with |by )?(?:the |a )?{old}",
        r"never (?:in |on |at |was )?{old}[,;] (?:it's|it was|it is|they're) {new}",
        r"(?:instead of|in place of|rather than|in lieu of) {old}",
        r"(?:replac\w+|swapp?\w*|traded|exchanged) {old} (?:with|by|for) {new}",
        r"{new} (?:has |have )?(?:replaced|took over from) {old}",
        r"{old} (?:(?:was|were|has been|have been|got|is|are) )(?:replaced|swapped|exchanged|superseded)(?: out)? (?:with|by|for) {new}",
        r"renam(?:ed|es|ing) {old}",
        r"took over .{1,40}? from {old}",
        r"not {old} but {new}",
        r"(?:is|are|be|it's|was|in|on|at) {new}, not (?:in |on |at )?{old}",
        r"(?:is|are|it's|isn't|aren't) not {old}[:;,] (?:it is|it's|they are) {new}",
        r"said .{0,80}(?:is|are|was|were|in|on|at) {old},? but (?:it is|it's|it was|i meant) (?:in |on |at )?{new}",
        r"gave (?:the |my |our ){old} to",
    ),
    "shifts": (
        r"(?:I|we)(?:'ve| have)?(?: just| finally| recently)* (?:upgraded|downgraded|migrated|moved|switched|updated|bumped) (?:\w+ )?(?:from \S+ )?to {thing} (?=\d){new}",
        r"{thing} (?:(?:has|have|had|was|were|is|are|got|been|being|now) )+(?:moved|pushed|changed|raised|lowered|increased|reduced|bumped|rescheduled|postponed|delayed|brought forward|cut|set|upgraded|extended|shifted|relocated|renamed)(?: back| up| forward| out| down)? to {new}",
        r"{thing} (?:(?:has|have|just) )*(?:moved|changed|went up|went down|rose|dropped|fell|increased|grew|shrank|shifted|relocated) to {new}",
        r"(?:moved|pushed|changed|raised|lowered|increased|reduced|bumped|rescheduled|postponed|delayed|cut|set|upgraded|extended|shifted|switched|rebooked|put) (?:the |my |our |his |her |their )?{thing} (?:back |up |forward |out |down )?to {new}",
    ),
    "ended": r"""\bno\slonger\b|\b(?:not|never|\w+n't)\b(?=[^.;!?]*\bany\s?more\b)|(?<!never\s)(?<!not\s)(?<!to\s)(?<!n\'t\s)\b(?:stopped|quit|gave\sup|given\sup
        |got\srid\sof|dropped|cancelled|canceled|sold|ditched|left|retired\sfrom|resigned|dropped\sout|unsubscribed|broke\sup|split\sup|(?:laid\soff|fired|let\sgo)\sfrom|stepped\sdown\s(?:as|from)
        |moved\sout\sof|shut\sdown|deleted|removed|uninstalled|decommissioned|deprecated|discontinued|retired|scrapped|closed|terminated|expired|deactivated|disabled
        |passed\saway|died|threw\s(?:out|away)|had\sto\sstop|gave\s(?:away|(?=(?:the|my|our)\s))|(?:moved|switched|came)\s(?:away\sfrom|off))\b
        |\b(?:(?:shut|turned|switched|called)\soff|wound\sdown|phased\sout|pulled\sthe\splug\son|done\swith|through\swith|over\sand\sdone\swith|handed\sin|gave\sback|returned|wrote\soff|let\s(?=\S+\slapse)|finished\swith|backed\sout\sof|opted\sout\sof|broken\sup|divorced|pulled\sout\sof|signed\soff\sfrom|no\smore)\b|\b(?:(?:handed\sin|gave|given)\smy\snotice)\b""",
    "negation": r"""\b(?:not|never|any\s?more|don't|doesn't|didn't|isn't|aren't|am\snot|can't|cannot)\b""",
    "verbs": """job membership subscription lessons classes account contract use uses used using moved move switched switch migrated changed change live lives living lived work works working run runs running went got
        finally last weekend week month year yesterday today now new again back over since instead replaced rolled morning everywhere everything is
        are been""",
    "single": (
        (
            "lives_in",
            r"(?P<subject>.+?)\s(?:now\s|currently\s|still\s|actually\s)?(?:lives?|(?:(?:am|is|are)\s)?(?:now\s)?(?:living|based)|resides?)\s(?:now\s|back\s)?in\s(?P<object>.+)",
        ),
        (
            "lives_in",
            r"(?P<subject>I|(?:my|our) [\w ]{1,30}?|(?!We|They|You)[A-Z]\w+)\s(?:have\s|has\s)?(?:just\s|recently\s)?(?:relocated|moved)\s(?:back\s|over\s|out\s|down\s|up\s)?to\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?P<subject>I)\s(?:have\s)?(?:just\s|recently\s)?(?:joined|started\s(?:a\s(?:new\s)?(?:job|position|role)\s|work(?:ing)?\s)?at|accepted\s(?:a|the)\s(?:job|offer|position)\s(?:at|from))\s(?P<object>.+)",
        ),
        (
            "works_at",
            r"(?P<subject>.+?)\s(?:now\s|currently\s|still\s)?works?\s(?:now\s)?(?:at|for)\s(?P<object>.+)",
        ),
    ),
}

IRREGULAR = """become became, begin began begun, break broke broken, bring brought, build built,
    buy bought, catch caught, choose chose chosen, come came, cost costs, cut cuts, draw drew drawn,
    drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feel felt, fight fought,
    find found, fly flew flown, forget forgot forgotten, forgive forgave forgiven, freeze froze
    frozen, give gave given, grow grew grown, hear heard, hide hid hidden, hold
    held, keep kept, lead led, learn learnt learned, leave left, lend lent, lose lost loss, make made
    making, mean meant, meet met meeting, pay paid, ride rode ridden, ring rang rung, rise rose
    risen, run ran running, say said, see saw seen, sell sold, send sent, shoot shot, show showed
    shown, sing sang sung, sit sat, sleep slept, speak spoke spoken, spend spent, stand stood, steal
    stole stolen, swim swam swum swimming, take took taken taking, teach taught, tell told, think
    thought, throw threw thrown, understand understood, wake woke woken, wear wore worn, win won
    winning, write wrote written writing, child children kid, person people, man men, woman women,
    wife wives, life lives, foot feet, tooth teeth, mouse mice
"""
"""Forms of one word that no stemmer joins."""
