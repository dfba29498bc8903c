"""A policy: every field that a user may declare, and what it says of one content.

Data and lookups; files are read in `files`, and what is done about it is the plan's decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from hippocampus.entries.entry import Compression
from hippocampus.errors import ModelError
from hippocampus.policy import matching
from hippocampus.policy.consolidation import Consolidation
from hippocampus.policy.facts import FactFields
from hippocampus.policy.rules import Compressions, Count, Declared, Rate, Rule, Share, Text
from hippocampus.policy.treatment import UNTREATED, Subject, Treatment, treat
from hippocampus.policy.words import (
    ERROR_SOURCE,
    UNNAMED_SOURCE,
    EntryType,
    Kind,
    PriceTable,
    RuleMode,
)

UNKNOWN_KIND = "text"
SAME_NAME = "same_name"
"""The type of the problem that two rules have one name, in pydantic's errors."""
DECAY_RATES: dict[EntryType, float] = {
    "tool_result": 0.1,
    "message": 0.05,
    "state": 0.02,
    "memory": 0.01,
}
"""Protocol, section 8.1; memory, which it leaves out, has that of section 5.1."""
FRESH_TURNS: dict[Kind, int] = {"code": 1, "prose": 1}
SOURCE_TYPES = {
    "*browser*snapshot*": "browser.snapshot",
    "*config*schema*": "config.schema",
    "*schema*config*": "config.schema",
    "*config*get*": "config.get",
    "*get*config*": "config.get",
}
"""The source types of the protocol's section 10, by the names that such tools have."""


def _all_rates(rates: Any) -> Any:
    return {**DECAY_RATES, **rates} if isinstance(rates, dict) else rates


def _globs(table: dict[str, str]) -> dict[str, str]:
    for glob in table:
        matching.globs((glob,))
    return table


def _distinct(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = Counter(rule.name for rule in rules if rule.name)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        told = f"rules of the same name: {', '.join(twice)}"
        raise PydanticCustomError(SAME_NAME, "{told}", {"told": told})
    return rules


def _known_model(name: str) -> str:
    from hippocampus import prices

    try:
        prices.model_prices(name)
    except ModelError as unknown:
        raise ValueError(str(unknown)) from None
    return name


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Policy(Declared):
    """One policy, every field with its default."""

    name: Text = "default"
    """The name that reports give it."""
    extends: str | None = None
    """The policy that this one changes: a shipped name, or a path from this file's folder."""
    index_over_tokens: Count = 1_000
    """Tool results over this become an index entry; 0 indexes every result."""
    bulk_over_tokens: Count = 1_000
    """The same for contents that are looked up and not read: known kinds without `fresh_turns`."""
    arguments_over_tokens: Count = 300
    """Tool-call arguments over this shrink once their result is in; 0 shrinks all of them."""
    compression: Compressions = "normal"
    """How short entries are: `light`, `normal`, `aggressive`, or their most tokens; `none` makes no
    entry, and nothing fades."""
    smallest_gain_tokens: Count = 100
    """An edit that saves less is not made; 0 makes every edit that saves anything."""
    fresh_turns: dict[Kind, Count] = Field(default_factory=lambda: dict(FRESH_TURNS))
    """By kind of content: for how many calls it is shown in full first; 0 is on arrival."""
    fresh_up_to_tokens: Count = 4_000
    """Larger contents are indexed on arrival whatever their kind; 0 is all of them."""
    fade_over_tokens: Count = 100
    """Smaller results and arguments over this shrink too once they have faded; 0 is all of them."""
    fade_after_turns: Count = 6
    """For so many turns after its last access a content does not fade; 0 fades at once."""
    fade_view_tokens: Count = 8_000
    """In a view under this nothing fades: there is little to win; 0 fades in any view."""
    faded_tokens: int = Field(80, ge=20)
    """What stands at most for a content that has faded."""
    sleep_after_turns: Count = 20
    """So many turns after its last access a large entry becomes dormant; 0 is at once."""
    sleep_over_tokens: Count = 150
    """Smaller entries stay as they are; 0 lets every one become dormant."""
    tell_after_turns: Count = 20
    """Turns older than this are told in digests where that pays; 0 tells none before the limit."""
    recall_tokens: int = Field(2_000, ge=1)
    """What one recall returns at most, unless it asks for another bound."""
    reactivate_tokens: Count = 0
    """What a message points at is shown again behind it, in so many tokens at most; 0 shows nothing."""
    budget_tokens: Count = 0
    """The view is kept under this; 0 sets no budget but the window's."""
    context_threshold: Share = 0.8
    """The share of the model's window that the view may fill before it must shrink; 0 sets none."""
    horizon_calls: Count = 200
    """The calls still to come are never taken to be more than this; with 0 no edit pays."""
    prices: PriceTable | None = None
    """The price table by which edits pay, where the caller names none."""
    model: Annotated[Text, AfterValidator(_known_model)] | None = None
    """The model whose prices and window count, where the caller names none."""
    initial_strength: Share = 1.0
    """The strength of an entry when it is made; with 0 it has none until it is accessed."""
    exponent: Rate = 0.5
    """How steep the power law of forgetting is; 0 forgets nothing."""
    decay_rates: Annotated[dict[EntryType, Rate], BeforeValidator(_all_rates)] = Field(
        default_factory=lambda: dict(DECAY_RATES)
    )
    """The rate of the power law by type of entry, per turn; 0 does not fade."""
    strong: Share = 0.5
    """From this strength on an entry slows those associated with it and may persist; 0 is any."""
    forget_below: Share = 0.1
    """An entry under this strength is forgotten when the archive is pruned; 0 forgets none."""
    consolidation: Consolidation = Consolidation()
    """What a session leaves behind, and what the next one starts with."""
    facts: FactFields = FactFields()
    """How long-term memory fades, conflicts and ranks."""
    source_types: Annotated[dict[str, Text], AfterValidator(_globs)] = Field(
        default_factory=lambda: dict(SOURCE_TYPES)
    )
    """Globs on names of tools, and the `source.type` of their results; the first that fits counts."""
    rules: RuleMode = "all"
    """Whether `all` rules that match have their say, later ones over earlier, or the `first` only."""
    lifecycle_policies: Annotated[
        tuple[Rule, ...], BeforeValidator(_listed), AfterValidator(_distinct)
    ] = ()
    """The rules, read from top to bottom."""

    def treat(self, subject: Subject) -> Treatment:
        """Return what the rules say of an entry, each field with the rule that decided it.

        With `rules: all`, the default, every rule that matches is heard and a later one overrides
        an earlier one field by field, since the protocol's own rules (section 10) need it: browser
        snapshots are tool results too, and both rules mean them. Redactions add up. A rule that
        reads the content (`contains`, `pattern`) raises a tool result only where its match names
        `type: tool_result`: content cannot keep itself.
        """
        if not self.lifecycle_policies:
            return UNTREATED
        if subject.source_type is None:
            named = self.source_type_of(subject.tool, is_error=subject.is_error)
            subject = replace(subject, source_type=named)
        return treat(self.lifecycle_policies, subject, first=self.rules == "first")

    @property
    def redacts(self) -> bool:
        """Say whether any rule takes something out of a text; a copy of a policy has other rules."""
        return any(rule.action.redact for rule in self.lifecycle_policies)

    def source_type_of(self, tool: str, is_error: bool = False) -> str:  # noqa: FBT001, FBT002 - reads as a sentence
        """Return where a tool's result comes from: by the table, else the tool's own name."""
        if is_error:
            return ERROR_SOURCE
        name = matching.searchable(tool)
        found = (
            source
            for glob, source in self.source_types.items()
            if matching.globs((glob,)).fullmatch(name)
        )
        return next(found, tool or UNNAMED_SOURCE)

    def decay_rate_of(self, entry_type: EntryType, treatment: Treatment = UNTREATED) -> float:
        """Return the decay rate of an entry: what a rule says, else its type's."""
        said = treatment.decay_rate
        return self.decay_rates[entry_type] if said is None else said

    def compression_of(self, treatment: Treatment = UNTREATED) -> Compression:
        """Return how short an entry is: what a rule says, else the policy's."""
        return self.compression if treatment.compression is None else treatment.compression

    def indexes(
        self, tokens: int, kind: Callable[[], str], treatment: Treatment = UNTREATED
    ) -> bool:
        """Say whether a content of so many tokens becomes an entry; its kind is asked if needed."""
        if treatment.index or self.keeps_whole(treatment):
            return not self.keeps_whole(treatment)
        if tokens <= min(self.index_over_tokens, self.bulk_over_tokens):
            return False
        found = kind()
        fresh = treatment.fresh_turns or self.fresh_turns.get(found)  # type: ignore[call-overload]
        bulk = found != UNKNOWN_KIND and not fresh
        return tokens > (self.bulk_over_tokens if bulk else self.index_over_tokens)

    def keeps_whole(self, treatment: Treatment = UNTREATED) -> bool:
        """Say whether a content never becomes an entry: it stays in full, and does not fade.

        A view that passes its limit may tell its turn in a digest all the same.
        """
        return treatment.index is False or self.compression_of(treatment) == "none"

    def shortens_arguments(self, tokens: int, treatment: Treatment = UNTREATED) -> bool:
        """Say whether the arguments of a call, of so many tokens, become an entry.

        The treatment is that of the call's result.
        """
        if treatment.shrink_arguments is not None:
            return treatment.shrink_arguments
        return not self.keeps_arguments(treatment) and tokens > self.arguments_over_tokens

    def keeps_arguments(self, treatment: Treatment = UNTREATED) -> bool:
        """Say whether the arguments of a call stay in full, and do not fade.

        The treatment is that of the call's result.
        """
        if treatment.shrink_arguments is not None:
            return not treatment.shrink_arguments
        return self.compression_of(treatment) == "none"

    def fresh_turns_of(self, kind: str, tokens: int, treatment: Treatment = UNTREATED) -> int:
        """Return for how many calls a content is shown in full before it may shrink."""
        if treatment.fresh_turns is not None:
            return treatment.fresh_turns
        by_kind: dict[Any, int] = self.fresh_turns
        return 0 if tokens > self.fresh_up_to_tokens else by_kind.get(kind, 0)
