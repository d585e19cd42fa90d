"""The messages of LangChain, as far as the recipe uses them."""

from dataclasses import dataclass, field


@dataclass
class AIMessage:
    content: str
    tool_calls: list = field(default_factory=list)


@dataclass
class ToolMessage:
    content: str
    tool_call_id: str
