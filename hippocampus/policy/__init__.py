"""Policies: which payloads leave the view, when, and how short their entries are.

Reads policy files and resolves their rules for an entry; the plan decides on changes.
"""

from hippocampus.policy.policy import NO_RULES, Consolidation, Policy, Resolution, new_entry
from hippocampus.policy.redaction import Redaction
from hippocampus.policy.rules import Refetch, Rule, Subject, record_subject
from hippocampus.policy.yaml_files import load, shipped, text_of

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
