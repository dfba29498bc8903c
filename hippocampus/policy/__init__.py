"""What a user declares: which contents leave the view, when, and how short they become.

Reading of policies and what their rules say of one entry; deciding by it is the plan's work.
"""

from hippocampus.policy.consolidation import Consolidation
from hippocampus.policy.fields import DECAY_RATES, Policy
from hippocampus.policy.files import load, shipped, text_of
from hippocampus.policy.redaction import Redaction, redacted
from hippocampus.policy.rules import Action, Match, Refetch, Rule
from hippocampus.policy.treatment import UNTREATED, Subject, Treatment
from hippocampus.policy.words import ERROR_SOURCE

__all__ = [
    "DECAY_RATES",
    "ERROR_SOURCE",
    "UNTREATED",
    "Action",
    "Consolidation",
    "Match",
    "Policy",
    "Redaction",
    "Refetch",
    "Rule",
    "Subject",
    "Treatment",
    "load",
    "redacted",
    "shipped",
    "text_of",
]
