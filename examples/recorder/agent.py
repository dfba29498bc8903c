"""The agent loop: it says what the script says, runs the real tools, and writes everything down.

No tool and no script is here. A script gets each result back as the text that the model would read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recorder.formats import Call, Result, Transcript
from recorder.tools import Picture, Tool, ToolError


@dataclass(frozen=True)
class Wanted:
    """A call that a script asks for, before it has an id."""

    tool: str
    arguments: dict[str, Any]


def want(tool: str, **arguments: Any) -> Wanted:
    """Return a call to be made in parallel with others."""
    return Wanted(tool, arguments)


@dataclass
class Agent:
    """One session: the transcript so far, and the tools that may be called."""

    name: str
    transcript: Transcript
    tools: Mapping[str, Tool]
    calls_made: int = field(default=0, init=False)

    def user(self, text: str) -> None:
        """Write down what the user says."""
        self.transcript.user(text)

    def answer(self, text: str) -> None:
        """Write down an assistant message that calls nothing, and so ends the user's turn."""
        self.transcript.assistant(text, ())

    def call(self, text: str, tool: str, **arguments: Any) -> str:
        """Say `text`, call one tool and return its result."""
        return self.calls(text, Wanted(tool, arguments))[0]

    def calls(self, text: str, *wanted: Wanted) -> list[str]:
        """Say `text`, call the tools in parallel and return their results in order."""
        calls = [self._numbered(one) for one in wanted]
        self.transcript.assistant(text, calls)
        results = [self._run(call) for call in calls]
        self.transcript.results(results)
        return [result.text for result in results]

    def _numbered(self, wanted: Wanted) -> Call:
        self.calls_made += 1
        digest = hashlib.sha256(f"{self.name}/{self.calls_made}".encode()).hexdigest()
        return Call(f"call_{digest[:24]}", wanted.tool, wanted.arguments)

    def _run(self, call: Call) -> Result:
        try:
            answer = self.tools[call.tool].run(**call.arguments)
        except ToolError as error:
            return Result(call, str(error), is_error=True)
        if isinstance(answer, Picture):
            return Result(call, answer.caption, png=answer.png)
        return Result(call, answer)
