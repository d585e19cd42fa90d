"""Asks a gate of Holdpoint before a call runs. Needs only the standard library."""

from .async_gate import AsyncGate
from .decision import AsyncDecision, Decision, PendingHold
from .errors import GateUnavailable, HoldDenied, HoldError, HoldReleased, StepUpRequired
from .gate import Gate

__version__ = "0.1.0"

__all__ = [
    "AsyncDecision",
    "AsyncGate",
    "Decision",
    "Gate",
    "GateUnavailable",
    "HoldDenied",
    "HoldError",
    "HoldReleased",
    "PendingHold",
    "StepUpRequired",
]
