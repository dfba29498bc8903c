"""Payloads are read in many threads at once, and the host's warnings stay as they are."""

from __future__ import annotations

import threading

from hippocampus.models import tokens

SOURCE = "import re\n" + "".join(
    f"def f{n}(a, b={n}):\n    '''Match {n}.'''\n    return [re.match('\\d{n}', x) for x in (a, [b, (a, {{b: a}})])]\n\n"
    for n in range(60)
)


def in_threads(work, count=8):
    failures = []

    def run():
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - the assertion names it
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_threads_that_start_together_load_a_vocabulary_once():
    tokens._vocabulary.cache_clear()
    text = "one two three " * 9_000
    in_threads(lambda: tokens.count(text + str(threading.get_ident())))
    assert tokens._vocabulary.cache_info().currsize == 1
    assert tokens._vocabulary.cache_info().misses == 1


def test_a_vocabulary_is_loaded_in_every_thread():
    in_threads(lambda: tokens._vocabulary.__wrapped__().encode("tea"), count=3)
