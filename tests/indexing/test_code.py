"""Sources are recognised, whole and in part, and no text makes it fail."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.indexing import arguments, code

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


def source(extension: str) -> str:
    return textwrap.dedent(SOURCES[extension]).strip() + "\n"


@pytest.mark.parametrize("extension", SOURCES)
def test_a_source_is_recognised_by_itself(extension: str) -> None:
    assert code.is_code(source(extension)) >= 0.5


def test_prose_is_no_code() -> None:
    prose = (
        "It was the best of times.\nIt was the worst of times, and so on.\nNobody knew why.\n" * 5
    )
    assert code.is_code(prose) < 0.5


@given(text=st.text(alphabet="def class(){}:=\n\t \"'<>#.,;0aZ_-é[]", max_size=400))
def test_no_text_makes_it_fail(text: str) -> None:
    assert 0 <= code.is_code(text) <= 1


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
    assert 0 <= code.is_code(text) <= 1
    assert 0 <= code.is_config(text) <= 1


def test_the_lines_that_define_something_come_first() -> None:
    """Readers that saw three lines of each body and no name could not call what they had written."""
    body = '\tif err := run(name); err != nil {\n\t\treturn fmt.Errorf("cannot run %s: %w", name, err)\n\t}\n'
    source = "".join(
        f"func (s *Service) Step{n}(name string) error {{\n{body}}}\n" for n in range(9)
    )
    shown = arguments.shorten(json.dumps({"path": "steps.go", "content": source}), "[abcd2345]")
    rows = json.loads(shown)["content"].split("\n")[2:]
    assert len(rows) > 2
    assert all("func (s *Service) Step" in row for row in rows)
