"""The Java virtual machine that runs a local Neo4j."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.neo4j_local.jars import vector_options

MODULES = 'MODULES="java.base jdk.incubator.vector jdk.jfr"\n'


@pytest.mark.parametrize(
    ("release", "options"),
    [
        (f'JAVA_VERSION="21.0.9"\n{MODULES}', ["--add-modules=jdk.incubator.vector"]),
        (f'JAVA_VERSION="20"\n{MODULES}', ["--add-modules=jdk.incubator.vector"]),
        (f'JAVA_VERSION="17.0.15"\n{MODULES}', []),  # Lucene does not use it there
        (f'JAVA_VERSION="25.0.3"\n{MODULES}', []),
        ('JAVA_VERSION="21.0.9"\nMODULES="java.base jdk.jfr"\n', []),  # the machine would not start
        (MODULES, []),
        (None, []),
    ],
)
def test_vectors_are_compared_by_the_processors_instructions_where_java_and_lucene_can(
    tmp_path: Path, release: str | None, options: list[str]
) -> None:
    if release is not None:
        (tmp_path / "release").write_text(release, encoding="utf-8")
    assert vector_options(tmp_path / "lib" / "server" / "libjvm.so") == options
