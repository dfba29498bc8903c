"""The table of sessions. A session is a script; what it needs of a result it takes from there."""

from __future__ import annotations

from recorder.formats import Anthropic, OpenAIChat, OpenAIResponses
from recorder.sessions import (
    api_client,
    docs_browser,
    fork_repair,
    function_catalogue,
    json_rename,
    package_inventory,
    price_comparison,
    removal_audit,
)
from recorder.sessions.session import Session, nothing

_TABLE = (
    Session("removal-audit", Anthropic, removal_audit.INSTRUCTIONS, removal_audit.play, nothing),
    Session(
        "function-catalogue",
        OpenAIResponses,
        function_catalogue.INSTRUCTIONS,
        function_catalogue.play,
        nothing,
    ),
    Session("api-client", OpenAIChat, api_client.INSTRUCTIONS, api_client.play, nothing),
    Session(
        "fork-repair", Anthropic, fork_repair.INSTRUCTIONS, fork_repair.play, fork_repair.prepare
    ),
    Session("docs-browser", OpenAIResponses, docs_browser.INSTRUCTIONS, docs_browser.play, nothing),
    Session(
        "paketinventur-de",
        OpenAIChat,
        package_inventory.INSTRUCTIONS,
        package_inventory.play,
        nothing,
    ),
    Session(
        "price-comparison-zh",
        Anthropic,
        price_comparison.INSTRUCTIONS,
        price_comparison.play,
        nothing,
    ),
    Session(
        "json-rename",
        OpenAIChat,
        json_rename.INSTRUCTIONS,
        json_rename.play,
        json_rename.prepare,
    ),
)

SESSIONS = {session.name: session for session in _TABLE}
