"""The words of the policy language and the short forms of its values, as types, and their descriptions."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AfterValidator, BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hippocampus.indexing.kinds import KINDS
from hippocampus.prices import TABLES

EntryType = Literal["tool_result", "message", "state", "memory"]
Priority = Literal["critical", "high", "normal", "low"]
Encoding = Literal["manual", "auto"]
Level = Literal["none", "light", "normal", "aggressive"]
Supersession = Literal["call", "tool", "source.type"]
if TYPE_CHECKING:
    Kind = str
    PriceTable = str
else:
    Kind = Literal[tuple(sorted(KINDS))]
    """The kinds of content; `text` is the kind of everything that no other kind recognises."""
    PriceTable = Literal[tuple(TABLES)]
RedactionKind = Literal["card", "email", "iban", "phone", "secret"]

ERROR_SOURCE = "error"
"""The `source.type` of every failed result, of any tool."""
UNNAMED_SOURCE = "tool"
"""The `source.type` of a result whose tool has no name."""


def described(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Describe the fields of a model in its JSON schema by the docstrings after them.

    Pydantic's `use_attribute_docstrings` would read the sources at every import, this only for a schema.
    """
    [written] = ast.parse(inspect.getsource(model)).body
    fields = schema["properties"]
    for before, after in itertools.pairwise(written.body):  # type: ignore[attr-defined]
        match before, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(text))):
                field = fields[name if name in fields else model.model_fields[name].alias]
                field["description"] = inspect.cleandoc(text)


def checked(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator that leaves a text as it is; `check` raises ValueError for a wrong one."""

    def unchanged(text: str) -> str:
        check(text)
        return text

    return AfterValidator(unchanged)


@dataclass(frozen=True, slots=True)
class Short:
    """A value that a file may write in short: a list as its only item, a mapping as its main `field`."""

    field: str = ""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Read the short form as the whole value."""

        def whole(value: Any) -> Any:
            if self.field:
                return {self.field: value} if isinstance(value, str | list) else value
            return tuple(value) if isinstance(value, list | tuple) else (value,)

        return core_schema.no_info_before_validator_function(whole, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe both forms."""
        whole = handler(schema)
        # Behind the validator of a short form, pydantic takes a list for a text.
        if "minLength" in whole:
            whole["minItems"] = whole.pop("minLength")
        fields = handler.resolve_ref_schema(whole).get("properties", {})
        short = fields[self.field] if self.field else whole["items"]
        return {"anyOf": [{key: short[key] for key in short if key != "title"}, whole]}


ONE_OR_MANY = Short()
