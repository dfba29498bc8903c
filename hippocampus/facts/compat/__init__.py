"""What the stores hippo, crib and scriptling do that this one does not: their formulas, files and verbs.

Nothing outside this folder needs it, but where a policy or a command asks for one of them.
"""
