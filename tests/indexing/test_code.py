"""Sources are recognised, and every name of an outline is on its line."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import code
from hippocampus.indexing.code import keywords
from hippocampus.indexing.code.languages import BY_EXTENSION

SOURCES = {
    "py": '''
        """Keeps users."""
        import os
        from a.b import (
            c,
            d,
        )

        LIMIT = 10


        class User(Base):
            name: str

            @property
            def first(self) -> str:
                return self.name_parts[0]


        async def load(path, *, deep=False):
            # TODO: read deep
            return os.getcwd()
        ''',
    "ts": """
        import { a } from "./a.js";
        export const LIMIT = 10;
        export class User extends Base {
            constructor(
                private name: string,
            ) {
                super();
            }
            async load(path: string): Promise<void> {
                if (path) {
                    return;
                }
            }
        }
        export interface Options {
            deep: boolean;
        }
        const first = (user: User): string => user.name;
        function last(user: User): string {
            return user.name;
        }
        """,
    "go": """
        package users

        import (
        \t"context"
        )

        const Limit = 10

        type User struct {
        \tName string
        }

        func (u *User) First(ctx context.Context) string {
        \treturn u.Name
        }

        func Load(path string) (*User, error) {
        \treturn nil, nil
        }
        """,
    "rs": """
        use std::collections::HashMap;

        pub const LIMIT: usize = 10;

        pub struct User {
            name: String,
        }

        impl User {
            pub fn first(&self) -> &str {
                &self.name
            }
        }

        fn load(path: &str) -> Option<User> {
            None
        }
        """,
    "java": """
        package com.example;

        import java.util.List;

        public class User extends Base {
            private static final int LIMIT = 10;

            public User(String name) {
                super(name);
            }

            @Override
            public List<String> first(int count) {
                if (count > 0) {
                    return null;
                }
                return null;
            }
        }
        """,
    "cpp": """
        #include <vector>
        #define LIMIT 10

        class User {
         public:
          int first() const;
        };

        static int load(const std::string& path, int deep) {
          if (deep > 0) {
            return 1;
          }
          return 0;
        }

        int main(int argc, char **argv) {
          return load(argv[0], 0);
        }
        """,
    "rb": """
        require 'json'

        module Shop
          class User < Base
            LIMIT = 10

            def first(count)
              count.times do |each|
                puts each
              end
            end
          end
        end
        """,
    "php": """
        <?php
        namespace App;

        use App\\Base;

        class User extends Base
        {
            const LIMIT = 10;

            public function first($count)
            {
                $name = $this->name;
                return $name;
            }
        }
        """,
    "sh": """
        #!/bin/bash
        LIMIT=10
        first() {
          local name=$1
          echo "$name"
        }
        if [ -f "$1" ]; then
          first "$1"
        fi
        """,
    "sql": """
        CREATE TABLE IF NOT EXISTS users (
          id serial primary key,
          name text
        );
        CREATE UNIQUE INDEX users_name ON users (name);
        CREATE OR REPLACE FUNCTION load(id int) RETURNS text AS $$
          select name from users;
        $$;
        """,
    "css": """
        :root {
          --limit: 10px;
        }
        .user-card > a {
          color: red;
        }
        @media (max-width: 600px) {
          .user-card { display: none; }
        }
        """,
}
EXPECTED = {
    "py": {"User", "first", "load", "LIMIT"},
    "ts": {"LIMIT", "User", "constructor", "load", "Options", "first", "last"},
    "go": {"Limit", "User", "First", "Load"},
    "rs": {"LIMIT", "User", "first", "load"},
    "java": {"LIMIT", "User", "first"},
    "cpp": {"LIMIT", "User", "load", "main"},
    "rb": {"Shop", "User", "LIMIT", "first"},
    "php": {"User", "LIMIT", "first"},
    "sh": {"LIMIT", "first"},
    "sql": {"users", "users_name", "load"},
    "css": {":root", "--limit", ".user-card > a"},
}


def source(extension: str) -> str:
    return textwrap.dedent(SOURCES[extension]).strip() + "\n"


@pytest.mark.parametrize("extension", SOURCES)
def test_every_symbol_stands_on_its_line(extension: str) -> None:
    text = source(extension)
    lines = text.split("\n")
    outline = keywords.outline(text, BY_EXTENSION[extension])
    assert {symbol.name for symbol in outline.symbols} >= EXPECTED[extension]
    assert all(symbol.name in lines[symbol.line - 1] for symbol in outline.symbols)


@pytest.mark.parametrize("extension", SOURCES)
def test_a_source_is_recognised_with_the_name_of_its_file(extension: str) -> None:
    assert code.is_code(source(extension), f"src/file.{extension}") >= 0.5


@pytest.mark.parametrize("extension", ["py", "ts", "go", "java", "sql"])
def test_a_source_is_recognised_by_itself(extension: str) -> None:
    assert code.is_code(source(extension)) >= 0.5


@pytest.mark.parametrize("extension", ["ts", "go", "rs", "java", "cpp"])
def test_no_word_of_control_is_taken_for_a_name(extension: str) -> None:
    names = {
        symbol.name
        for symbol in keywords.outline(source(extension), BY_EXTENSION[extension]).symbols
    }
    assert not names & {"if", "for", "while", "return", "switch", "super", "else"}


def test_the_outline_of_python_has_what_its_parser_finds() -> None:
    tree = ast.parse(source("py"))
    made = {
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    outlined = keywords.outline(source("py"), BY_EXTENSION["py"]).symbols
    assert made == {(s.line, s.name) for s in outlined if s.kind in {"class", "def"}}


def test_prose_is_no_code() -> None:
    prose = (
        "It was the best of times.\nIt was the worst of times, and so on.\nNobody knew why.\n" * 5
    )
    assert code.is_code(prose) < 0.5


def test_a_python_module_of_the_library_has_every_class_and_function_on_its_line() -> None:
    text = inspect.getsource(argparse)
    outline = code.outline_of(text)
    assert outline is not None
    made = {
        (node.name, node.lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert made <= {(symbol.name, symbol.line) for symbol in outline.symbols}


@pytest.mark.parametrize("extension", ["py", "ts", "go", "yaml", ""])
@given(text=st.text(alphabet="def class(){}:=\n\t \"'<>#.,;0aZ_-é[]", max_size=400))
def test_no_text_makes_it_fail(extension: str, text: str) -> None:
    assert 0 <= code.is_code(text, f"file.{extension}") <= 1
    assert code.outline_of(text) == code.outline_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 300_000,
        "def f():\n  pass\nx = " + "-" * 50_000 + "1",
        "import a\nimport b\nimport c\n" + "\0" * 100,
        "import a\nimport b\nimport c\n\ud800",
        "a = 1\n" * 3 + " " * 500_000,
        "\n".join(" " * depth + f"k{depth}:" for depth in range(2_000)),
    ],
)
def test_hostile_sources_are_survived(text: str) -> None:
    assert 0 <= code.is_code(text, "x.py") <= 1
    assert 0 <= code.is_config(text) <= 1


def test_a_call_with_a_function_in_it_is_no_definition() -> None:
    source = """\
import { useEffect } from "react";
export class Panel {
  render(done: () => void): void {
    setTimeout(() => {
      done();
    }, 10);
  }
}
"""
    names = [symbol.name for symbol in keywords.outline(source, BY_EXTENSION["ts"]).symbols]
    assert names == ["react", "Panel", "render"]
