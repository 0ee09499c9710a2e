import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from kgrag.errors import InputError
from kgrag.link_prediction import training
from kgrag.link_prediction.graph import ChunkGraph, with_questions
from kgrag.link_prediction.layers import Dropout
from kgrag.link_prediction.model_file import ModelFile, read_model, write_model
from kgrag.link_prediction.options import PAPER, TrainingOptions
from kgrag.link_prediction.scoring import Scorer, full_pass
from kgrag.link_prediction.training import Supervision, Trained, train
from tests.link_prediction.test_link_graph import chunk_graph

SMALL = TrainingOptions(hidden=16, epochs=8, batch=64, input_dropout=0.0, edges=("nearest",), learning_rate=0.01)


def unit(some: np.ndarray) -> np.ndarray:
    return np.asarray(some / np.linalg.norm(some, axis=1, keepdims=True), dtype=np.float32)


def toy(communities: int = 16, size: int = 8, seed: int = 0) -> tuple[ChunkGraph, Supervision]:
    """Planted communities: chunks of one are joined and a little alike; a question is near one chunk, and about another of its own."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(communities, 16))
    member = np.repeat(np.arange(communities), size)
    some = unit(centres[member] + 0.7 * generator.normal(size=(len(member), 16)))
    joined = (member[:, None] == member) & (generator.random((len(member), len(member))) < 0.7)
    joined = np.triu(joined, 1)
    adjacency = csr_array((joined | joined.T).astype(np.float32))
    near = np.repeat(np.arange(len(member)), 3)
    about = np.array([generator.choice(np.flatnonzero(member == member[chunk])) for chunk in near])
    questions = unit(some[near] + 0.3 * generator.normal(size=(len(near), 16)))
    return ChunkGraph(some, adjacency, len(member)), Supervision(
        questions, np.column_stack([np.arange(len(near)), about])
    )


def auc(trained: Trained, graph: ChunkGraph, supervision: Supervision) -> float:
    """The chance that a true edge has a higher score than one to a chunk of another community."""
    generator = np.random.default_rng(11)
    wins = []
    for question, chunk in supervision.edges[:40]:
        others = generator.choice(np.flatnonzero(np.arange(graph.chunks) // 8 != chunk // 8), 20, replace=False)
        logits = full_pass(trained, graph, supervision.vectors[question], np.concatenate([[chunk], others]))
        wins.append(float((logits[0] > logits[1:]).mean()))
    return float(np.mean(wins))


@pytest.mark.parametrize("predictor", ["ncn", "vgae", "peg", "seal"])
def test_each_predictor_learns_planted_communities_that_it_was_not_shown(predictor: str) -> None:
    graph, supervision = toy()
    half = len(supervision.edges) // 2
    shown = Supervision(supervision.vectors, supervision.edges[::2])
    held_out = Supervision(supervision.vectors, supervision.edges[1::2])
    assert len(shown.edges) == half
    update = {"predictor": predictor, "sampler": "uniform", "residual": False, "patience": 25}
    # Each of its epochs takes ten times as long as one of the others, and teaches more.
    update["epochs"] = 8 if predictor == "seal" else 25
    options = SMALL.model_copy(update=update)
    trained = train(graph, shown, options)
    assert auc(trained, graph, held_out) > 0.9
    assert min(trained.losses) < 0.8 * trained.losses[0]


def test_the_loss_is_the_one_calculated_by_hand() -> None:
    graph = chunk_graph(6)

    class Fixed:
        def logits(self, *_: object) -> np.ndarray:
            return np.array([2.0, -1.0, 0.5])

        def penalty(self, *_: object) -> float:
            return 0.0

    truth, counts = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.5, 0.5])
    expected = (
        -np.log(1 / (1 + np.exp(-2.0)))
        - 0.5 * np.log(1 - 1 / (1 + np.exp(1.0)))
        - 0.5 * np.log(1 - 1 / (1 + np.exp(-0.5)))
    )
    found = training._loss(Fixed(), {}, graph, np.zeros((3, 2), dtype=np.intp), truth, counts, Dropout())  # type: ignore[arg-type]
    assert float(found) == pytest.approx(float(expected))


def test_edges_that_are_predicted_are_not_in_the_graph_that_predicts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, supervision = toy(4, 8)
    seen: list[tuple[ChunkGraph, np.ndarray, np.ndarray]] = []
    loss = training._loss

    def watched(predictor, parameters, visible, pairs, truth, counts, dropout):  # type: ignore[no-untyped-def]
        if dropout.generator is not None:
            seen.append((visible, pairs, truth))
        return loss(predictor, parameters, visible, pairs, truth, counts, dropout)

    monkeypatch.setattr(training, "_loss", watched)
    options = PAPER.model_copy(update={"hidden": 8, "epochs": 2, "batch": 50})
    train(graph, supervision, options)
    assert seen
    for visible, pairs, truth in seen:
        for one, other in pairs[truth > 0.0]:
            assert visible.adjacency[one, other] == 0.0 == visible.adjacency[other, one]
    seen.clear()
    train(graph, supervision, options.model_copy(update={"mask": False}))
    assert any(visible.adjacency[one, other] for visible, pairs, truth in seen for one, other in pairs[truth > 0.0])


def test_who_learns_from_edges_in_sight_sees_them_and_who_learns_without_them_does_not() -> None:
    generator = np.random.default_rng(0)
    some = unit(generator.normal(size=(60, 12)))
    graph = ChunkGraph(some, csr_array((60, 60), dtype=np.float32), 60)

    def by_chance(count: int) -> Supervision:
        about = generator.integers(0, 60, count)
        return Supervision(unit(generator.normal(size=(count, 12))), np.column_stack([np.arange(count), about]))

    shown, others = by_chance(120), by_chance(200)
    edges = np.zeros((200, 60), dtype=np.float32)
    edges[others.edges[:, 0], others.edges[:, 1]] = 1.0
    joined = with_questions(graph, others.vectors, csr_array(edges))
    true = np.column_stack([others.edges[:, 0] + 60, others.edges[:, 1]])
    false = np.column_stack([true[:, 0], generator.permutation(true[:, 1])])
    settings = {"hidden": 16, "epochs": 40, "supervise": "questions", "input_dropout": 0.0, "learning_rate": 0.01}

    def separation(*, mask: bool) -> float:
        """AUC on edges of questions that were not learnt from, in sight or not as in training."""
        options = PAPER.model_copy(update={**settings, "mask": mask, "batch": 40})
        trained = train(graph, shown, options)
        visible = joined.without(true) if mask else joined
        one, other = (
            np.asarray(trained.predictor.logits(trained.parameters, visible, pairs, Dropout()))
            for pairs in (true, false)
        )
        return float((one[:, None] > other).mean())

    assert separation(mask=False) > 0.6
    assert 0.4 < separation(mask=True) < 0.6


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    graph, supervision = toy(4, 8)
    one, same = train(graph, supervision, SMALL), train(graph, supervision, SMALL)
    assert all((one.parameters[name] == same.parameters[name]).all() for name in one.parameters)
    assert one.calibration == same.calibration
    other = train(graph, supervision, SMALL.model_copy(update={"seed": 8}))
    assert any((one.parameters[name] != other.parameters[name]).any() for name in one.parameters)


def test_training_that_was_stopped_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    graph, supervision = toy(4, 8)
    whole = train(graph, supervision, SMALL)
    checkpoint = tmp_path / "lp.checkpoint"
    epochs = itertools.count(1)

    def stop() -> None:
        if next(epochs) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(graph, supervision, SMALL, checkpoint=checkpoint, advance=stop)
    assert checkpoint.exists()
    more: list[int] = []
    resumed = train(graph, supervision, SMALL, checkpoint=checkpoint, advance=lambda: more.append(1))
    assert len(more) == len(whole.losses) - 3
    assert all((whole.parameters[name] == resumed.parameters[name]).all() for name in whole.parameters)
    assert whole.losses == resumed.losses
    assert not checkpoint.exists()


def test_a_checkpoint_of_another_training_or_a_broken_one_is_not_gone_on_from(tmp_path: Path) -> None:
    graph, supervision = toy(4, 8)
    checkpoint = tmp_path / "lp.checkpoint"
    checkpoint.write_bytes(b"PK\x03\x04 broken")
    expected = train(graph, supervision, SMALL)
    found = train(graph, supervision, SMALL, checkpoint=checkpoint)
    assert all((expected.parameters[name] == found.parameters[name]).all() for name in expected.parameters)


def test_too_few_questions_are_refused() -> None:
    graph, supervision = toy(4, 8)
    with pytest.raises(InputError, match="at least 20 questions with gold chunks to train on, got 5"):
        train(graph, Supervision(supervision.vectors[:5], supervision.edges[:5]), SMALL)


@pytest.mark.parametrize("attach", ["all", "topn", "none"])
@pytest.mark.parametrize("attach_by", ["cosine", "one"])
def test_the_fast_pass_of_ncn_equals_the_full_one(attach: str, attach_by: str) -> None:
    graph, supervision = toy()
    options = SMALL.model_copy(update={"attach": attach, "attach_by": attach_by, "epochs": 2})
    trained = train(graph, supervision, options)
    scorer = Scorer(trained, graph)
    every = np.arange(graph.chunks)
    for question in supervision.vectors[:5]:
        expected = full_pass(trained, graph, question, every)
        assert scorer.logits(question, every) == pytest.approx(expected, abs=1e-5)
        some = np.array([3, 17, 40])
        assert scorer.logits(question, some) == pytest.approx(expected[some], abs=1e-5)


def test_one_question_leaves_no_trace_for_the_next() -> None:
    graph, supervision = toy()
    trained = train(graph, supervision, SMALL)
    scorer, edges = Scorer(trained, graph), graph.adjacency.copy()
    first = scorer.best(supervision.vectors[0], 10)
    scorer.best(supervision.vectors[50], 10)
    assert scorer.best(supervision.vectors[0], 10) == first
    assert (graph.adjacency != edges).nnz == 0
    assert [probability for _, probability in first] == sorted((one for _, one in first), reverse=True)


def test_chunks_that_came_later_are_found_without_training() -> None:
    graph, supervision = toy()
    known = 80
    first = ChunkGraph(graph.vectors[:known], csr_array(graph.adjacency[:known, :known]), known)
    of_known = supervision.edges[supervision.edges[:, 1] < known]
    asked, place = np.unique(of_known[:, 0], return_inverse=True)
    trained = train(first, Supervision(supervision.vectors[asked], np.column_stack([place, of_known[:, 1]])), SMALL)
    scorer = Scorer(trained, graph)
    found = [
        known + i for i in range(graph.chunks - known) if scorer.best(graph.vectors[known + i], 3)[0][0] == known + i
    ]
    assert len(found) > 0.8 * (graph.chunks - known)


def test_calibrated_probabilities_are_near_the_shares_that_are_true() -> None:
    graph, supervision = toy()
    trained = train(graph, supervision, SMALL.model_copy(update={"sampler": "uniform", "negatives": 1, "epochs": 15}))
    generator = np.random.default_rng(9)
    true = supervision.edges[:200]
    false = np.column_stack([true[:, 0], generator.integers(0, graph.chunks, len(true))])
    probabilities, truths = [], []
    for edges, truth in ((true, 1.0), (false, 0.0)):
        for question, chunk in edges:
            logits = full_pass(trained, graph, supervision.vectors[question], np.array([chunk]))
            probabilities.append(float(trained.calibration.probabilities(logits)[0]))
            truths.append(truth)
    assert abs(float(np.mean(probabilities)) - float(np.mean(truths))) < 0.15


def test_a_model_file_gives_back_the_same_scores(tmp_path: Path) -> None:
    graph, supervision = toy(4, 8)
    trained = train(graph, supervision, SMALL)
    file = tmp_path / "lp.npz"
    write_model(file, ModelFile(trained, "minilm", "digest", len(supervision.vectors)))
    read = read_model(file)
    assert read.trained.options == trained.options
    assert read.trained.calibration == trained.calibration
    every = np.arange(graph.chunks)
    assert (
        full_pass(read.trained, graph, supervision.vectors[0], every)
        == full_pass(trained, graph, supervision.vectors[0], every)
    ).all()


def test_a_file_that_is_no_model_or_was_changed_is_refused(tmp_path: Path) -> None:
    graph, supervision = toy(4, 8)
    trained = train(graph, supervision, SMALL)
    file = tmp_path / "lp.npz"
    with pytest.raises(InputError, match="got no file"):
        read_model(file)
    for broken in (b"no archive", b"PK\x03\x04 cut off"):
        file.write_bytes(broken)
        with pytest.raises(InputError, match="expected a link predictor that kgrag train lp wrote"):
            read_model(file)
    model = ModelFile(trained, "minilm", "digest", 1)
    write_model(file, model)
    with np.load(file) as kept:
        arrays = {name: kept[name] for name in kept.files}
    for name, changed, message in (
        ("beta", arrays["beta"] + 1.0, "fingerprint"),
        ("beta", np.full(1, np.nan, dtype=np.float32), "no numbers"),
        ("beta", np.zeros(3, dtype=np.float32), "arrays are not those"),
    ):
        with file.open("wb") as out:
            np.savez(out, **{**arrays, name: changed})
        with pytest.raises(InputError, match=message):
            read_model(file)


def test_settings_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match="hiden"):
        TrainingOptions.model_validate({"hiden": 3})
