"""Policies: which contents leave the view, when, and how short their entries are.

Reads policy files and resolves their rules for one entry; the plan decides what is done.
"""

from hippocampus.policy.consolidation import Consolidation
from hippocampus.policy.fields import DECAY_RATES, Policy
from hippocampus.policy.files import load, shipped, text_of
from hippocampus.policy.redaction import Redaction, redacted
from hippocampus.policy.resolution import NO_RULES, Resolution, Subject, record_subject
from hippocampus.policy.rules import Action, Match, Refetch, Rule
from hippocampus.policy.words import ERROR_SOURCE

__all__ = [
    "DECAY_RATES",
    "ERROR_SOURCE",
    "NO_RULES",
    "Action",
    "Consolidation",
    "Match",
    "Policy",
    "Redaction",
    "Refetch",
    "Resolution",
    "Rule",
    "Subject",
    "load",
    "record_subject",
    "redacted",
    "shipped",
    "text_of",
]
