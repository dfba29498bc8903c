"""Policies: which payloads leave the view, when, and how short their entries are.

Reads policy files and resolves their rules for an entry; the plan decides on changes.
"""

from hippocampus.policy.blocks import Consolidation
from hippocampus.policy.fields import Policy, new_entry
from hippocampus.policy.files import load, shipped, text_of
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.resolution import NO_RULES, Resolution, Subject, record_subject
from hippocampus.policy.rules import Refetch, Rule

__all__ = [
    "NO_RULES",
    "Consolidation",
    "Policy",
    "Redaction",
    "Refetch",
    "Resolution",
    "Rule",
    "Subject",
    "load",
    "new_entry",
    "record_subject",
    "shipped",
    "text_of",
]
