"""The providers' HTTP APIs, one file an API; none imports another.

`ANSWERS` is the only list of them.
"""

from __future__ import annotations

from hippocampus.integrations.proxy.apis.answer import ModelAnswer
from hippocampus.integrations.proxy.apis.anthropic import MessagesAnswer
from hippocampus.integrations.proxy.apis.chat import ChatAnswer
from hippocampus.integrations.proxy.apis.responses import ResponsesAnswer

ANSWERS: dict[str, type[ModelAnswer]] = {
    "/chat/completions": ChatAnswer,
    "/responses": ResponsesAnswer,
    "/messages": MessagesAnswer,
}
"""By the end of a path, the API that it belongs to."""
