"""What one asks after reading a page: where to click, what is filled in, what it says."""

from __future__ import annotations

import re

from tests.bench.compression.question import Question, beside, says

ELEMENT = re.compile(r'- (\w+)(?: "([^"]*)")?.*?\[ref=(e\d+)\]')
HEADING2 = re.compile(r'<h2 id="(\w+)">(.*?)</h2>')


def snapshot(text: str) -> list[Question]:
    """Twenty questions about an accessibility snapshot."""
    elements = ELEMENT.findall(text)
    refs: dict[str, str] = {}
    for _, name, ref in elements:
        refs.setdefault(name, ref)
    sections = [name for role, name, _ in elements if role == "heading" and " — " in name]
    names = [section.split(" — ")[0] for section in sections]
    middle = sections[len(sections) // 2]

    def ref_of(name: str) -> Question:
        return beside(f"Which ref is {name!r}?", name, refs[name])

    return [
        says("What is the page's address?", "https://docs.library.example/3/library/csv.html"),
        says("What is the page's title?", re.findall(r"Page Title: (.*)", text)[0]),
        ref_of("Send report"),
        ref_of("Quick search"),
        beside("What stands in the search box?", "Quick search", "dialect"),
        ref_of("Find"),
        ref_of("Version"),
        beside("Which version is selected?", "Version|selected", "3.12 (security fixes)"),
        ref_of("Your e-mail"),
        beside("Which address is filled in?", "Your e-mail|email", "reader@example.org"),
        ref_of("What is wrong?"),
        says("What does the notice say?", "security fixes only", "2028-10-31"),
        ref_of("Next: netrc"),
        beside("Is a copy sent to me?", "Send me a copy", "checked|[x]"),
        beside("Which button is disabled?", "Attach a file", "disabled"),
        beside("Which ref is the link to ArgumentParser?", "ArgumentParser", refs["ArgumentParser"]),
        beside(f"Which ref heads {middle!r}?", names[len(names) // 2], refs[middle]),
        says("Which modules does the page describe?", *names),
        ref_of("Open an issue"),
        beside("How many links are there?", "links|link", sum(e[0] == "link" for e in elements)),
    ]  # fmt: skip


def html_page(text: str) -> list[Question]:
    """Twenty questions about the source of a page."""
    sections = HEADING2.findall(text)[:-1]
    argument = re.findall(r'href="([^"]*#ArgumentParser)"', text)[0]
    sample = re.findall(r"<strong>sample</strong></a>\((.*?)\)", text)[0]
    token = re.findall(r'name="csrf_token" value="(\w+)"', text)[0]
    fields = Question(
        "Which fields has the report form?",
        together=(("email", "topic"), ("topic", "message"), ("copy", "public")),
    )
    return [
        says("What is the title?", "random, argparse and 1 more"),
        says("What is its canonical address?", "https://docs.library.example/3/library/random.html"),
        says("Where does the search form go?", "/3/search.html"),
        beside("What is searched for?", "q|Quick search", "choices weights"),
        beside("Which version is selected?", "version", "3.12"),
        says("What does the notice say?", "security fixes only", "2028-10-31"),
        says("Where does the report form go?", "/feedback/4711"),
        beside("With which method?", "/feedback/4711", "post"),
        beside("What is the CSRF token?", "csrf_token", token),
        says("Which button sends the report?", "Send report"),
        fields,
        beside("Must I give an e-mail address?", "email|Your e-mail", "required"),
        beside("Where does 'Next' lead?", "Next: socket|next", "socket.html"),
        beside("Where does 'Previous' lead?", "Previous: select|previous|prev", "select.html"),
        beside("How many links are there?", "links|link", len(re.findall(r"<a [^>]*href=", text))),
        says("Which sections has the page?", *(title for _, title in sections)),
        beside("Where is ArgumentParser described?", "ArgumentParser", argument),
        beside("Where do I report a bug?", "Open an issue", "https://bugs.library.example/new?component=docs"),
        says("When was it last updated?", "Mar 03, 2025|2025-03-03"),
        beside("Which keyword has random.sample?", "sample", re.findall(r"(\w+)=", sample)[-1]),
    ]  # fmt: skip
