"""Commands as one types them, shown below the help of each."""

from __future__ import annotations

from typing import Any

__all__ = ["EXAMPLES", "show_examples"]

EXAMPLES = {
    "ask": (
        'kgrag ask "Which supply voltage does the X-100 need?"',
        "kgrag ask --questions questions.txt --store neo4j://127.0.0.1:7687",
    ),
    "bench extraction": ("kgrag bench extraction gold.csv --store manuals.kg",),
    "bench retrieval": ("kgrag bench retrieval --questions questions.jsonl --pipelines hybrid,default",),
    "build": (
        "kgrag build manuals --store manuals.kg",
        "kgrag build manuals --extractor llm --model openai:gpt-4o-mini --store neo4j://127.0.0.1:7687",
    ),
    "communities": ("kgrag communities --store manuals.kg",),
    "communities show": ("kgrag communities show --svg communities.svg",),
    "compare": (
        "kgrag compare --questions questions.jsonl --pipelines hybrid,default --out run",
        "kgrag compare --questions questions.jsonl --pipelines hybrid,default --out run --judge openai:gpt-4o --dry-run",
    ),
    "complete": ("kgrag complete --store manuals.kg --precision 0.5",),
    "cypher": ('kgrag cypher "MATCH (e:Part) RETURN e.name LIMIT 10"',),
    "db admin": ("kgrag db admin database info neo4j",),
    "db down": ("kgrag db down",),
    "db status": ("kgrag db status",),
    "db up": ("kgrag db up --heap-mb 4096", 'eval "$(kgrag db up --export)"'),
    "delete": ("kgrag delete manuals/x-100.pdf",),
    "digest": ("kgrag digest --store manuals.kg",),
    "explain-merge": ('kgrag explain-merge "Wi-Fi" "WiFi"',),
    "export": ("kgrag export --to exported",),
    "feedback export": ("kgrag feedback export --out questions.jsonl",),
    "import": ("kgrag import exported --store other.kg",),
    "judge calibrate": ("kgrag judge calibrate judged.jsonl --judge openai:gpt-4o",),
    "judge pairs": ("kgrag judge pairs run hybrid default --judge openai:gpt-4o",),
    "mcp": ("kgrag mcp --store manuals.kg", "kgrag mcp --http --port 8322 --users users.toml"),
    "models check": ("kgrag models check --model ollama:llama3.1 --embedder minilm",),
    "pipelines": ("kgrag pipelines",),
    "pipelines show": ("kgrag pipelines show default",),
    "questions make": ("kgrag questions make --limit 100 --out questions.jsonl",),
    "report": ("kgrag report run",),
    "resolve": ("kgrag resolve --dry-run", "kgrag resolve --method llm --model openai:gpt-4o-mini"),
    "retrieve": ("kgrag retrieve --questions questions.jsonl --pipeline hybrid --out evidence.jsonl",),
    "serve": (
        "kgrag serve --store manuals.kg",
        "kgrag serve --host 0.0.0.0 --users users.toml --model openai:gpt-4o-mini",
    ),
    "status": ("kgrag status --store manuals.kg",),
    "train lp": ("kgrag train lp --out links.toml",),
    "train ranker": ("kgrag train ranker --out adapted.toml",),
    "tune": ("kgrag tune --questions questions.jsonl --out tuned.toml",),
    "users add": ("kgrag users add anna --role admin --password",),
}
"""By the name of the command. `tests/cli/test_examples.py` parses each."""


def show_examples(program: Any) -> None:
    """Put the examples below the help of the commands of `program`, as click has them."""
    for name, lines in EXAMPLES.items():
        command = program
        for word in name.split():
            command = command.commands[word]
        command.epilog = "\n\n".join(["Example:" if len(lines) == 1 else "Examples:", *lines])
