"""APOC beside a Neo4j of a benchmark: peers need it, kgrag does not."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from kgrag.neo4j_local.jars import neo4j_jars

__all__ = ["APOC_SETTINGS", "put_apoc"]

POM = Path(__file__).parent / "pom.xml"
APOC_SETTINGS = {"dbms.security.procedures.unrestricted": "apoc.*"}
"""As the peers' documentation starts Neo4j."""
VERSION_AND_SUFFIX = re.compile(r"-\d[\w.\-]*\.jar$")


def put_apoc(home: Path) -> None:
    """Put APOC's jars, fetched once by Maven, into the plugins of a Neo4j that is not started yet, without those that Neo4j has itself."""
    fetched = user_cache_path("kgrag", appauthor=False) / "apoc-5.26.19"
    if not fetched.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            jars = Path(folder) / "jars"
            command = ["mvn", "--batch-mode", "--quiet", "--file", str(POM), "dependency:copy-dependencies"]
            subprocess.run([*command, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"], check=True)
            shutil.copytree(jars, fetched)
    own = {VERSION_AND_SUFFIX.sub("", jar.name) for jar in neo4j_jars(print).glob("*.jar")}
    plugins = home / "plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    for jar in fetched.glob("*.jar"):
        if VERSION_AND_SUFFIX.sub("", jar.name) not in own:
            shutil.copy(jar, plugins)
