"""Payloads are read in many threads at once, and the host's warnings stay as they are."""

from __future__ import annotations

import ast
import threading
import warnings

from hippocampus.indexing import kind_of, python_source
from hippocampus.models import tokens
from hippocampus.storage.content_store import DiskStore

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


def test_python_is_read_alike_in_every_thread():
    alone = ast.dump(python_source.parsed(SOURCE))

    def work():
        for number in range(20):
            assert ast.dump(python_source.parsed(f"{SOURCE}\n# {number}\n")) == alone
            assert kind_of(f"{{'a': '\\d{number}', 'b': [1, 2, (3, {number})]}}") == "json"

    in_threads(work)


def test_the_host_is_still_warned(tmp_path):
    def work():
        for number in range(50):
            python_source.parsed(f"{SOURCE}\nx = {number}\n")

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        in_threads(work, 4)
        store = DiskStore(tmp_path)
        store.put(b"x")
        assert store.check() == []
        store.close()
        warnings.warn("of the host", stacklevel=1)
    assert [str(each.message) for each in heard] == ["of the host"]


def test_a_vocabulary_is_loaded_in_every_thread():
    in_threads(lambda: tokens._vocabulary.__wrapped__("cl100k_base").encode("tea"))
