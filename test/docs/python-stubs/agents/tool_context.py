"""The context of a tool call of the OpenAI Agents SDK, as far as the recipe uses it."""

from dataclasses import dataclass
from typing import Any


@dataclass
class ToolContext:
    context: Any
    tool_call_id: str
