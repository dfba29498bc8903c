"""The fields of a policy, and the lookups that combine them with a rule's resolution.

The fields of a rule are in `rules`; `yaml_files` reads the files, and the plan decides on changes. The blocks on
memory are read by `consolidation` and `facts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from hippocampus.entries.entry import Compression, Decay, Entry, Lifecycle, Modifiers, Source
from hippocampus.errors import ModelError
from hippocampus.policy import matching
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.redaction import joined as joined_redactions
from hippocampus.policy.rules import (
    Compressions,
    Count,
    DecayRate,
    Declared,
    Glob,
    Rate,
    Rule,
    RuleAction,
    Share,
    Subject,
    Text,
)
from hippocampus.policy.value_types import (
    ERROR_SOURCE,
    UNNAMED_SOURCE,
    Encoding,
    EntryType,
    Kind,
    PriceTable,
    checked,
)
from hippocampus.prices import model_prices

Days = Annotated[float, Field(gt=0)]


class Consolidation(Declared):
    """The `consolidation` block of a policy."""

    facts: bool = True
    """Write lasting statements to the fact store."""
    archive: bool = True
    """Keep the raw conversation as compressed JSONL."""
    memory_file: bool = True
    """Keep MEMORY.md in the state directory."""
    daily_logs: bool = True
    """Keep `memory/YYYY-MM-DD.md` in the state directory."""
    context_load_tokens: Count = 0
    """The most tokens of earlier sessions' memories at the start of a session; 0 loads nothing."""
    model_seconds: Rate = 10.0
    """How long the optional model may take; 0 does not call it."""
    idle_minutes: Rate = 10.0
    """On a server, how long a session has not changed before `consolidate --watch` reads it; 0 is at once."""
    forget_after_sessions: Count = 50
    """Dormant entries are pruned after this number of sessions without use; 0 is never."""


NOTHING = Consolidation(facts=False, archive=False, memory_file=False, daily_logs=False)
"""Leaves nothing, for replays."""


class FactFields(Declared):
    """The `facts` block of a policy; fields that are left out have the preset's values."""

    preset: Literal["default", "hippo", "scriptling"] = "default"
    """The formulas by which memories fade, repeat each other and rank, and the values of fields that are left out."""
    half_life_days: dict[Text, Days] = Field(default_factory=dict)
    """By type, the days in which a memory loses half of its strength; `.inf` does not fade."""
    hide_below: Share | None = None
    """Weaker memories are not returned, and not deleted; 0 hides none."""
    prune_below: Share | None = None
    """`compact` removes weaker memories; 0 keeps all."""
    prune_after_days: Rate | None = None
    """`compact` removes memories without an access for longer, preferences included; 0 keeps all."""
    keep_secrets: bool | None = None
    """Whether memories with passwords, keys and tokens are stored; if not, they are refused."""


UNKNOWN_KIND = "text"
RECORDS = "json"
DECAY_RATES: dict[EntryType | Kind, float] = {
    "tool_result": 0.1,
    "message": 0.05,
    "state": 0.02,
    "memory": 0.01,
}
"""Protocol, section 8.1; `memory`, which 8.1 leaves out, has the rate of section 5.1."""
FRESH_TURNS: dict[Kind, int] = {"code": 1, "prose": 1}
RAISING: dict[str, tuple[Any, ...]] = {
    "priority": ("critical", "high"),
    "encoding": ("manual",),
    "persist": (True,),
    "pin": (True,),
}
"""The values of an action that keep content for longer, by field."""
SOURCE_TYPES = {
    "*browser*snapshot*": "browser.snapshot",
    "*config*schema*": "config.schema",
    "*schema*config*": "config.schema",
    "*config*get*": "config.get",
    "*get*config*": "config.get",
}
"""The source types of the protocol's section 10, by globs on tool names."""


def _expect_priced(model: str) -> None:
    try:
        model_prices(model)
    except ModelError as unknown:
        raise ValueError(str(unknown)) from None


class Resolution(RuleAction):
    """The fields that the rules set for an entry; where one is None, the policy's own field applies."""

    because: Mapping[str, str] = {}
    """The rule that set a field, by field."""
    withheld: Mapping[str, str] = {}
    """The rule that did not raise a tool result because it matched the result's own text, by field."""

    def redacted(self, text: str) -> str:
        """Return a text redacted by the rules."""
        return self.redact.redacted(text) if self.redact else text

    def redacted_json(self, text: str) -> str:
        """Return arguments redacted by the rules; JSON stays valid JSON."""
        return self.redact.redacted_json(text) if self.redact else text

    def redacted_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return a JSON object redacted by the rules."""
        if not self.redact:
            return data
        return cast("dict[str, Any]", json.loads(self.redacted_json(json.dumps(data))))


NO_RULES = Resolution()
"""The resolution of an entry that no rule matches."""


class Policy(Declared):
    """One policy: every field with its default."""

    name: Text = "default"
    """The name in reports."""
    extends: str | None = None
    """The policy that this one changes: a shipped name, or a path relative to this file's folder."""
    index_over_tokens: Count = 1_000
    """Larger tool results become index entries; 0 indexes every result."""
    bulk_over_tokens: Count = 1_000
    """`index_over_tokens` for kinds that are searched and not read: known kinds without `fresh_turns`."""
    records_over_tokens: Count | None = None
    """`index_over_tokens` for records (JSON), which are shortened at any gain; None is
    `bulk_over_tokens`."""
    arguments_over_tokens: Count = 300
    """Larger tool-call arguments are shortened once the result has arrived; 0 shortens all."""
    line_numbers: Count = 10
    """The view keeps every n-th line number that a tool printed, and only the range of numbers for lines
    that the call itself wrote; 0 and 1 keep all."""
    compression: Compressions = "normal"
    """How short entries are: `light`, `normal`, `aggressive`, or a number of tokens; with `none` there
    are no entries, and nothing fades."""
    smallest_gain_share: Share = 0.5
    """An edit that saves a smaller share is not made, except for records: an edit that keeps most of a
    text breaks it up for little."""
    fresh_turns: dict[Kind, Count] = Field(default_factory=lambda: dict(FRESH_TURNS))
    """By kind of content, the number of calls for which it stays in full; 0 shortens it on arrival."""
    fresh_up_to_tokens: Count = 4_000
    """Larger contents of any kind are indexed on arrival; 0 is all."""
    read_turns: Count = 0
    """The number of calls for which a text that the agent asked to read (a file, a page, the answer of
    a sub-agent) stays in full, at any size; 0 treats it like any other text of its kind."""
    fade_over_tokens: Count = 100
    """Larger results and arguments are shortened once they have faded; 0 is all."""
    fade_below: Share = 0.73
    """Content of at most this strength may be shortened; 0 fades nothing."""
    fade_view_tokens: Count = 8_000
    """Nothing fades in a smaller view, which has little to save; 0 is any view."""
    faded_tokens: int = Field(80, ge=20)
    """The most tokens of an entry for faded content; of a small one a third of it where that is more, of a
    dormant one up to 300 more, by its size."""
    sleep_below: Share = 0.5
    """A large entry of at most this strength may become dormant; 0 disables that."""
    digest_below: Share = 0.5
    """Turns with nothing above this strength may become digests; 0 makes them at the limit only."""
    stake: Share = 0.1
    """The share of the cost of the whole list so far that edits may lose before they have saved it; 0
    makes only edits that earlier savings cover."""
    recall_tokens: int = Field(2_000, ge=1)
    """The most tokens that a recall returns, unless it asks for another bound."""
    budget_tokens: Count = 0
    """The most tokens of the view; 0 sets no budget besides the window's."""
    context_threshold: Share = 0.8
    """The share of the model's context window that the view may fill; 0 sets no limit."""
    prices: PriceTable | None = None
    """The price table that decides whether edits pay, unless the caller names one."""
    model: Annotated[Text, checked(_expect_priced)] | None = None
    """The model whose prices and context window apply, unless the caller names one."""
    initial_strength: Share = 1.0
    """The strength of a new entry; 0 until its first access."""
    mention_strength: Share = 1.0
    """The minimum strength of an entry that a message names; a recall sets it to 1."""
    exponent: Rate = 0.5
    """The exponent of the power law of forgetting; 0 forgets nothing."""
    decay_rates: Annotated[
        dict[EntryType | Kind, DecayRate],
        BeforeValidator(
            lambda rates: {**DECAY_RATES, **rates} if isinstance(rates, dict) else rates
        ),
    ] = Field(default_factory=lambda: dict(DECAY_RATES))
    """The rate of the power law, per turn, by type of entry or kind of content; 0 does not fade."""
    strong: Share = 0.5
    """A result that persists becomes a fact if it has at least this strength; 0 is any."""
    forget_below: Share = 0.1
    """Archival consolidation prunes entries under this strength; 0 prunes none."""
    consolidation: Consolidation = Consolidation()
    """What a session stores at its end, and what the next session starts with."""
    facts: FactFields = FactFields()
    """How long-term memory fades, conflicts and ranks."""
    source_types: dict[Glob, Text] = Field(default_factory=lambda: dict(SOURCE_TYPES))
    """Globs on tool names, and the `source.type` of their results; the first match counts."""
    lifecycle_policies: Annotated[
        tuple[Rule, ...],
        BeforeValidator(lambda rules: tuple(rules) if isinstance(rules, list) else rules),
    ] = ()
    """The rules, from top to bottom."""

    def resolve(self, subject: Subject) -> Resolution:
        """Return the fields that the rules set for an entry, with the rule that set them.

        Every matching rule applies, and a later rule overrides an earlier one field by field, as the
        protocol's rules (section 10) need: a browser snapshot is a tool result too, and matches both
        rules. Redactions add up. A rule that reads the content (`contains`, `instruction`, `pattern`)
        raises a tool result only where its match names `type: tool_result`, so that content cannot
        raise its own priority.
        """
        source_type = subject.source_type
        if source_type is None:
            source_type = self.source_type_of(subject.tool, is_error=subject.is_error)
        fields: dict[str, Any] = {}
        because: dict[str, str] = {}
        withheld: dict[str, str] = {}
        redactions: list[Redaction] = []
        for number, rule in enumerate(self.lifecycle_policies, start=1):
            priority = fields.get("priority", subject.priority)
            if not rule.match.applies(subject, priority, source_type):
                continue
            label = rule.name or f"rule {number}"
            named = rule.match.type is not None and subject.type in rule.match.type
            # A tool result is untrusted: its own text may not raise it above the default.
            is_untrusted = subject.type == "tool_result" and rule.match.reads_text and not named
            for name in RuleAction.model_fields:
                value = getattr(rule.action, name)
                if value is None:
                    continue
                raises = value in RAISING.get(name, ()) or (name == "floor" and value > 0)
                if raises and is_untrusted:
                    withheld[name] = label
                    continue
                if name == "redact":
                    redactions.append(value)
                    label = ", ".join(filter(None, (because.get(name), label)))
                fields[name], because[name] = value, label
        if redactions:
            fields["redact"] = joined_redactions(tuple(redactions))
        if not (because or withheld):
            return NO_RULES
        return Resolution.model_construct(**fields, because=because, withheld=withheld)

    @property
    def redacts(self) -> bool:
        """Whether any rule redacts; not cached, since a copied policy has other rules."""
        return any(rule.action.redact for rule in self.lifecycle_policies)

    def source_type_of(self, tool: str, is_error: bool = False) -> str:  # noqa: FBT001, FBT002 - reads as a sentence
        """Return the source type of a tool's result: from `source_types`, or else the tool's name."""
        if is_error:
            return ERROR_SOURCE
        types = self.source_types.items()
        found = (source for glob, source in types if matching.is_one((glob,), tool))
        return next(found, tool or UNNAMED_SOURCE)

    def decay_rate_of(
        self, entry_type: EntryType, resolution: Resolution = NO_RULES, kind: str = ""
    ) -> float:
        """Return the decay rate of an entry: from a rule, or else by its kind or type."""
        if resolution.decay_rate is not None:
            return resolution.decay_rate
        by_name: Mapping[Any, float] = self.decay_rates
        return by_name.get(kind, by_name[entry_type])

    def compression_of(self, resolution: Resolution = NO_RULES) -> Compression:
        """Return the compression of an entry: from a rule, or else the policy's."""
        return self.compression if resolution.compression is None else resolution.compression

    def indexes(
        self, tokens: int, kind: Callable[[], str], resolution: Resolution = NO_RULES
    ) -> bool:
        """Return whether content of this size becomes an entry; `kind` is called only if needed."""
        if resolution.index or self.keeps_whole(resolution):
            return not self.keeps_whole(resolution)
        bulk, records = self.bulk_over_tokens, self.records_over_tokens
        records = bulk if records is None else records
        if tokens <= min(self.index_over_tokens, bulk, records):
            return False
        found = kind()
        if found == UNKNOWN_KIND or resolution.fresh_turns or self.fresh_turns.get(found):
            return tokens > self.index_over_tokens
        return tokens > (records if found == RECORDS else bulk)

    def keeps_whole(self, resolution: Resolution = NO_RULES) -> bool:
        """Return whether content stays in full, without an entry and without decay.

        A digest may still replace its turn where the view passes its limit.
        """
        return resolution.index is False or self.compression_of(resolution) == "none"

    def is_worth_shortening(self, full_tokens: int, shorter_tokens: int, kind: str = "") -> bool:
        """Return whether a shorter text saves enough tokens to replace a full text of a kind."""
        share = 0.0 if kind == RECORDS else self.smallest_gain_share
        return full_tokens - shorter_tokens >= max(1, share * full_tokens)

    def fresh_turns_of(
        self, kind: str, tokens: int, resolution: Resolution = NO_RULES, *, asked: bool = False
    ) -> int:
        """Return the number of calls for which content stays in full.

        `asked` is whether the agent asked to read it: then its size does not count.
        """
        if resolution.fresh_turns is not None:
            return resolution.fresh_turns
        by_kind: dict[Any, int] = self.fresh_turns
        read = self.read_turns if asked else 0
        usual = 0 if tokens > self.fresh_up_to_tokens else by_kind.get(kind, 0)
        return max(read, usual)


def new_entry(  # noqa: PLR0913, PLR0917 - a record, and its policy
    entry_id: str,
    entry_type: EntryType,
    source: Source,
    policy: Policy,
    resolution: Resolution,
    kind: str = "",
) -> Entry:
    """Return an entry without a summary, made and last accessed in the turn of its source."""
    expires = resolution.expires_after_turns
    usual: Encoding = "manual" if entry_type in {"message", "state"} else "auto"
    return Entry(
        id=entry_id,
        type=entry_type,
        source=source,
        summary="",
        strength=policy.initial_strength,
        decay=Decay(
            rate=policy.decay_rate_of(entry_type, resolution, kind),
            floor=resolution.floor or 0.0,
            last_access=source.turn,
        ),
        modifiers=Modifiers(
            priority=resolution.priority or "normal", encoding=resolution.encoding or usual
        ),
        lifecycle=Lifecycle(
            created=source.turn,
            expires=None if expires is None else source.turn + expires,
            persist=bool(resolution.persist),
        ),
    )
