"""Writes twenty tasks for `hippocampus trial`: python examples/trial_tasks.py FOLDER [--count N].

Each is long on purpose: its clues have to be read one after the other, and its answer needs what was
read at the beginning. Tickets name the next ticket in words, logs are spread over services, and a
change has to be made in modules that differ. The same files come out each time; none has the answer.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

HOPS = 45
NAMES = [
    "Ada",
    "Bela",
    "Cleo",
    "Dara",
    "Elif",
    "Fynn",
    "Gwen",
    "Hugo",
    "Ines",
    "Jaro",
    "Kira",
    "Lars",
    "Mina",
    "Nils",
    "Olga",
    "Piet",
]
PARTS = [
    "belt",
    "cable",
    "dial",
    "fan",
    "gasket",
    "hinge",
    "lamp",
    "motor",
    "nozzle",
    "pump",
    "relay",
    "screw",
    "tray",
    "valve",
]
SERVICES = ["auth", "billing", "cart", "geo", "mail", "media", "orders", "search", "stock", "users"]
Made = tuple[str, dict[str, str], str]
"""A prompt, the files of the workspace, and the shell program that verifies them."""


def tickets(chance: random.Random) -> Made:
    """Return a chain of tickets: the sum of the parts of one kind, and who opened the first of them."""
    count = 400
    chain = chance.sample(range(count), HOPS)
    wanted = chance.choice(PARTS)
    files: dict[str, str] = {}
    parts: dict[int, tuple[str, str, int]] = {}
    for number in range(count):
        owner, part, amount = chance.choice(NAMES), chance.choice(PARTS), chance.randint(2, 90)
        place = chain.index(number) if number in chain else -1
        if place >= 0 and (place % 4 == 0 or place == HOPS - 1):
            part = wanted
        parts[number] = owner, part, amount
        later = chain[place + 1] if 0 <= place < HOPS - 1 else chance.randrange(count)
        shift = chance.randint(3, 40)
        pointer = f"Goes on in the ticket whose number is {shift} more than {later - shift}."
        if place == HOPS - 1:
            pointer = "Closed. Nothing follows this ticket."
        noise = " ".join(chance.choice(PARTS) for _ in range(120))
        head = f"Ticket {number:03}\nOpened by {owner}.\nParts: {amount} of {part}.\n"
        files[f"tickets/{number:03}.txt"] = f"{head}{pointer}\n\nNotes: {noise}\n"
    found = [parts[number] for number in chain if parts[number][1] == wanted]
    total, first = sum(amount for _, _, amount in found), found[0][0]
    prompt = (
        f"The folder tickets holds {count} tickets. Begin with ticket {chain[0]:03} and go from ticket to ticket, "
        f"reading each yourself, until one says that nothing follows. Write to answer.txt, on one line, the sum of "
        f"the parts of kind {wanted} in the tickets on this way, a blank, and who opened the first of these."
    )
    return prompt, files, f'[ "$(cat answer.txt)" = "{total} {first}" ]'


def logs(chance: random.Random) -> Made:
    """Return the logs of services: the requests that failed in the last service they reached."""
    files = {f"logs/{name}.log": [] for name in SERVICES}
    requests = [f"{chance.getrandbits(40):010x}" for _ in range(100)]
    failed: dict[str, int] = dict.fromkeys(SERVICES, 0)
    for request in requests:
        way = chance.sample(SERVICES, chance.randint(3, 7))
        fails = chance.random() < 0.2
        for hop, name in enumerate(way):
            then = (
                f"passed to {way[hop + 1]}"
                if hop < len(way) - 1
                else "timed out"
                if fails
                else "done"
            )
            words = chance.choice(
                ("served from cache", "took a lock", "read 3 rows", "retried once")
            )
            at = f"2026-03-{chance.randint(1, 28):02} {chance.randint(0, 23):02}:17:05"
            lines = [f"{at} INFO request {request} {words}", f"{at} INFO request {request} {then}"]
            files[f"logs/{name}.log"] += lines
        failed[way[-1]] += fails
    for lines in files.values():
        for worker in range(200):
            lines.append(
                f"2026-03-{chance.randint(1, 28):02} 00:17:05 INFO worker {worker} is idle"
            )
        chance.shuffle(lines)
    table = "".join(f"{name} {failed[name]}\n" for name in SERVICES)
    prompt = (
        "The folder logs has a log for each of ten services; lines are in no order. A request begins in one service "
        "and is passed on until it is done or has timed out. Look at the logs one by one, then write to answer.txt a "
        "line for each service, by name: the service, a blank, and how many requests timed out there as their last."
    )
    files_of = {name: "\n".join(lines) + "\n" for name, lines in files.items()}
    return prompt, files_of, f"printf '%s' '{table}' | diff -q - answer.txt"


def modules(chance: random.Random) -> Made:
    """Return a package of modules that all price differently, for one change in each of them."""
    names = chance.sample([f"{one}_{two}" for one in PARTS for two in ("retail", "trade")], 20)
    rates = {name: chance.randint(3, 97) for name in names}
    forms = (
        "RATE = {0}\n\n\ndef price(amount):\n    return amount * RATE\n",
        "def price(amount):\n    total = 0\n    for _ in range(amount):\n        total += {0}\n    return total\n",
        (
            "class Pricing:\n    rate = {0}\n\n    def __call__(self, amount):\n        return self.rate * amount\n"
            "\n\nprice = Pricing()\n"
        ),
        "price = lambda amount: sum([{0}] * amount)\n",
    )
    files = {f"shop/{name}.py": chance.choice(forms).format(rates[name]) for name in names}
    files["shop/__init__.py"] = ""
    rules = {name: (chance.randint(5, 50), chance.randint(5, 40)) for name in names}
    files["RULES.md"] = "".join(
        f"- {name}: from {limit} pieces on, {off} percent less, rounded down.\n"
        for name, (limit, off) in rules.items()
    )
    checks = []
    for name, (_, off) in rules.items():
        one, sixty = rates[name], 60 * rates[name]
        checks += [
            f"assert shop.{name}.price(1, rebate=True) == {one}",
            f"assert shop.{name}.price(60, rebate=True) == {sixty * (100 - off) // 100}",
            f"assert shop.{name}.price(60) == {sixty}",
        ]
    imports = "\n".join(f"import shop.{name}" for name in names)
    prompt = (
        "Each module of the package shop has a `price`. Give each of them a second parameter `rebate`, False without "
        "it, under which the rule of the module in RULES.md holds. Change the modules one by one, by hand, each in its "
        "own style, and try each."
    )
    program = imports + "\n" + "\n".join(checks)
    return prompt, files, f"python3 - <<'END'\nimport sys\nsys.path.insert(0, '.')\n{program}\nEND"


def main() -> None:
    """Write the tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20)
    given = parser.parse_args()
    kinds = (tickets, logs, modules)
    for number in range(given.count):
        kind = kinds[number % len(kinds)]
        prompt, files, verify = kind(random.Random(number))
        home = given.folder / f"{kind.__name__}-{number:02}"
        for name, text in files.items():
            path = home / "workspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (home / "prompt.md").write_text(prompt + "\n", "utf-8")
        (home / "verify").write_text(f"#!/bin/sh\n{verify}\n", "utf-8")
        (home / "verify").chmod(0o755)


if __name__ == "__main__":
    main()
