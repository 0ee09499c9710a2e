"""The settings of each step of retrieval, with their defaults: what a pipeline file can say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Adjacent",
    "Breadth",
    "CommunityExpansion",
    "CommunitySeeds",
    "Context",
    "Count",
    "Decompose",
    "EntitySeeds",
    "Expansion",
    "GlobalSeeds",
    "GraphExpansion",
    "Hyde",
    "Keywords",
    "LinkExpansion",
    "Names",
    "PageRankExpansion",
    "PathExpansion",
    "Proximity",
    "QueryStep",
    "Rerank",
    "Rewrite",
    "Seeds",
    "SeedsOfAKind",
    "Share",
    "StepBack",
    "StepSettings",
]

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0, le=100.0)]
Count = Annotated[int, Field(ge=1, le=1000)]
CountOrNone = Annotated[int, Field(ge=0, le=1000)]
Level = Annotated[int, Field(ge=0, le=20)]


class StepSettings(BaseModel):
    """Settings of one step: frozen, and nothing else allowed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# Query preparation. Each kind that asks a chat model has a model-free one beside it, which `without_model` may name.


class Rewrite(StepSettings):
    """Say the question as something to search for; `terms`: its telling words only."""

    kind: Literal["rewrite", "terms"]
    without_model: Literal["terms"] | None = None
    """What is done where there is no chat model; without it the pipeline is refused then."""


class Keywords(StepSettings):
    """Look for keywords besides; `names`: the names, part numbers and quantities of the question, then its longest words."""

    kind: Literal["keywords", "names"]
    most: Annotated[int, Field(ge=1, le=20)] = 8
    channel: Literal["dense", "sparse", "both"] = "both"
    """Which list they go into: they are added to the embedded text, and to the full-text query with `boost`."""
    boost: Annotated[float, Field(gt=0.0, le=100.0)] = 2.0
    without_model: Literal["names"] | None = None


class Hyde(StepSettings):
    """Search with the vector of a made-up passage that answers the question; `feedback`: move the question's vector to what it finds."""

    kind: Literal["hyde", "feedback"]
    style: Literal["passage", "community"] = "passage"
    """What the passage is styled as: a passage of the documents or a report on a community."""
    nearest: Count = 5
    """For `feedback`: chunks whose mean vector is added (Rocchio)."""
    weight: Weight = 0.5
    """For `feedback`: of that mean, beside the question's 1."""
    without_model: Literal["feedback"] | None = None


class Decompose(StepSettings):
    """Look for sub-questions too; `coordination`: one for each of the things that the question joins by and, or, versus."""

    kind: Literal["decompose", "coordination"]
    most: Annotated[int, Field(ge=1, le=10)] = 4
    weight: Share = 1.0
    """Of what a sub-question finds, beside the question's 1."""
    without_model: Literal["coordination"] | None = None


class StepBack(StepSettings):
    """Look for a more general question too; `topic`: the question without its names and numbers."""

    kind: Literal["step_back", "topic"]
    weight: Share = 0.5
    """Of what it finds, beside the question's 1."""
    without_model: Literal["topic"] | None = None


QueryStep = Annotated[Rewrite | Keywords | Hyde | Decompose | StepBack, Field(discriminator="kind")]


# Seeds


class Seeds(StepSettings):
    """Which chunks a question finds by itself."""

    kind: Literal["dense", "sparse", "hybrid"]
    candidates: Count = 100
    """Chunks taken from each index."""
    fusion: Literal["minmax", "rrf"] = "minmax"
    """How `hybrid` joins the two lists (`kgrag.retrieve.fusion`)."""
    alpha: Share = 0.5
    """Weight of dense against sparse, for `minmax`."""
    coverage: bool = False
    """For `minmax`: sparse counts only as far as the best sparse hits have the question's words (`kgrag.retrieve.coverage`)."""
    rrf_k: Count = 60
    """Rank offset of reciprocal rank fusion; 60 is that of Cormack, Clarke and Büttcher (SIGIR 2009)."""
    weight: Weight = 1.0
    """Beside other seeds, where the file has several."""


class EntitySeeds(StepSettings):
    """The entities that the question names or is near to, with their relations and the chunks that mention them."""

    kind: Literal["entity"]
    entities: Count = 10
    """Entities nearest to the question, by the graph's vector index; those that it names come besides."""
    chunks: Count = 30
    """Chunks that mention them, by the rarity of what they mention and their likeness to the question."""
    relations: CountOrNone = 30
    """Relations of these entities shown as evidence of their own, those with the question's words first."""
    weight: Weight = 1.0


class CommunitySeeds(StepSettings):
    """The communities nearest to the question: what is written about them, and the chunks of their entities."""

    kind: Literal["community"]
    level: Level = 1
    """Finest level that is looked at, 0 the coarsest; a community that has none so fine stands for itself."""
    communities: Count = 5
    entities: Count = 25
    """Entities of one community, most mentioned first."""
    chunks: Count = 15
    """Chunks that mention these, nearest to the question first."""
    weight: Weight = 1.0


class GlobalSeeds(StepSettings):
    """All communities of a level, each judged by how much it has to say on the question: the map of a map-reduce.

    With a chat model: what batches of communities say on the question, in points with a relevance of 0 to 100. Without: the communities
    themselves, by likeness and words.
    """

    kind: Literal["global"]
    level: Level = 0
    batch_tokens: Annotated[int, Field(ge=200, le=100_000)] = 4000
    """Of communities shown to the model at once."""
    points: Count = 50
    """Points that are kept, the most relevant first."""
    without_model: Literal["communities"] | None = None
    weight: Weight = 1.0


SeedsOfAKind = Annotated[Seeds | EntitySeeds | CommunitySeeds | GlobalSeeds, Field(discriminator="kind")]


class Names(StepSettings):
    """Preference for chunks about something that the question names."""

    weight: Share
    """What a chunk about something that the question names gains, on the scale on which the best possible seed has 1."""
    chunks: Count = 50
    """Chunks about one name that become candidates, nearest to the question first."""
    members: CountOrNone = 0
    """The same for each member of a family that the question names (`Nano boards`, `the Nicla family`); 0: families are not looked for."""


class Proximity(StepSettings):
    """Preference for what says most of the question in one sentence."""

    weight: Share
    """What a piece gains with a sentence that has all words of the question, on the scale on which the best possible seed has 1."""
    above: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
    """The share of the question's words up to which a sentence gains nothing; between that and all of them it gains in proportion."""


class Breadth(StepSettings):
    """Fair shares, where a question names families or asks which things of a sort there are without naming one."""

    length: Share
    """What a piece loses for each 100 tokens, on the scale on which the best possible seed has 1: what is long costs others their place."""
    document: Share
    """What it loses for each better one of its document."""
    family: Share
    """What it loses for each better one of its family beyond those of the family that has fewest."""


class Adjacent(StepSettings):
    """Support from the chunk before or after: what a document says of one thing often goes on in the next chunk."""

    weight: Share
    """Share of the better neighbour's score that a candidate gains, where that neighbour is a candidate itself."""


# Expansion


class LinkExpansion(StepSettings):
    """Follow names and hyperlinks from seeds to the chunks that they lead to."""

    kind: Literal["links"]
    seeds: Count = 10
    """Seeds whose links are followed."""
    weight: Share
    """Share of a seed's score that a link by the rarest of names hands on."""
    entities: Count = 30
    """Names followed from one seed, rarest first."""
    chunks: Count = 10
    """Chunks that one name leads to, nearest to the question first."""
    hyperlinks: CountOrNone = 10
    """Hyperlinks followed from one seed, in reading order."""


class PathExpansion(StepSettings):
    """Pair seeds with chunks of other documents that a rare name joins to them, where the two together are nearer to the question."""

    kind: Literal["paths"]
    seeds: Count = 10
    pairs: Count = 10
    """Pairs that are lifted, best first."""
    joint: Share = 0.33
    """What a pair gains for each unit of cosine by which both together are nearer to the question than the better of them."""
    link: Share = 0.05
    """What a pair gains by the rarest of names."""
    stated: Share = 0.15
    """What it gains besides, where the seed states a relation between that name and something that the question names."""
    common: Count = 20
    """A name that more chunks have joins nothing."""
    stated_common: Count = 40
    """The same for a name that the seed relates to something that the question names (and that is not common itself)."""
    ignore: Annotated[tuple[str, ...], Field(strict=False)] = ("Class", "Quantity", "Section", "Term")
    """Types of entities that join nothing: two products with the same rating are not related by it."""
    entities: Count = 30
    """Names of one seed, rarest first."""
    chunks: Count = 100
    """Chunks that share names with one seed, by the rarest name that they share."""


class GraphExpansion(StepSettings):
    """Expand seeds over entities and relations, as in the thesis."""

    kind: Literal["kg"]
    seeds: Count = 8
    weight: Share = 0.5
    """Share of a seed's score that a chunk sharing all its entities gets."""
    entities: Count = 20
    """Entities of one seed, rarest first."""
    chunks: Count = 10
    """Chunks that share them, by the rarity of what is shared."""
    neighbours: Count = 30
    """Relations of these entities to others, best supported first; as many again for the second hop."""
    hops: Literal[1, 2] = 2
    relations: CountOrNone = 10
    """Relations shown as evidence of their own."""


class CommunityExpansion(StepSettings):
    """Show what is written about the communities of the seeds' entities."""

    kind: Literal["communities"]
    seeds: Count = 8
    weight: Share = 0.5
    """Share of a seed's score that its nearest community gets."""
    level: Level = 1
    """Finest level that is looked at, 0 the coarsest; an entity that is in none so fine has the finest that it is in."""
    entities: Count = 20
    """Entities of one seed, rarest first."""
    communities: CountOrNone = 10
    """Communities shown as evidence of their own, by the seeds that lead there and likeness to the question."""


class PageRankExpansion(StepSettings):
    """Personalised PageRank over the graph with the chunks as nodes (`kgrag.retrieve.pagerank`)."""

    kind: Literal["pagerank"]
    weight: Share = 0.5
    """Of the rank in a candidate's score, beside `1 - weight` of what it had."""
    damping: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    """Chance of walking on; 0.5 is HippoRAG's."""
    entities: Weight = 1.0
    """Reset weight of the entities that the question names or is near to, together."""
    relations: Weight = 1.0
    """Reset weight of the ends of the relations whose words the question has, together."""
    passages: Weight = 0.5
    """Reset weight of the seeds, by their scores, together."""
    linked: Count = 5
    """Entities nearest to the question that are linked, besides those that it names."""
    facts: Count = 10
    """Relations that are linked."""
    title: Weight = 2.0
    """Weight of the edge from an entity to a chunk about it."""
    mention: Weight = 1.0
    """Weight of the edge from an entity to a chunk that mentions it."""
    relation: Weight = 1.0
    """Weight of an edge between two related entities."""
    similar: Weight = 0.5
    """Weight of an edge between two similar entities, times their similarity."""
    adjacent: Weight = 0.25
    """Weight of the edge between a chunk and the next one."""
    hyperlink: Weight = 0.5
    """Weight of an author's hyperlink."""
    candidates: Count = 200
    """Chunks with the highest rank that become candidates."""


Expansion = Annotated[
    LinkExpansion | PathExpansion | GraphExpansion | CommunityExpansion | PageRankExpansion, Field(discriminator="kind")
]


class Rerank(StepSettings):
    """Read question and passage together and order by that."""

    kind: Literal["cross_encoder", "cohere", "listwise", "late_interaction"]
    """`cross_encoder` and `cohere` use the configured reranker, `listwise` the chat model, `late_interaction` MiniLM's token vectors."""
    candidates: Annotated[int, Field(ge=2, le=200)] = 25
    """Pieces that are read; the others stay behind them."""
    window: Annotated[int, Field(ge=2, le=100)] = 20
    """For `listwise`: pieces that the model sees at once; half of them again in the next window, from the last to the first."""
    characters: Annotated[int, Field(ge=100, le=20_000)] = 1200
    """For `listwise`: of a piece that the model sees."""
    weight: Share = 1.0
    """Of the new score, beside `1 - weight` of the old one, both scaled; for all but `listwise`."""
    without_model: Literal["late_interaction"] | None = None


class Context(StepSettings):
    """What of the ranking is shown."""

    top: Count = 20
    tokens: Annotated[int, Field(ge=1)] | None = None
    """Budget; a piece that does not fit any more is left out and the next one tried."""
    near_duplicate: Share = 1.0
    """A chunk that shares this share of its words with a better one is not shown; 1 leaves out exact copies only."""
    order: Literal["score", "document", "ends"] = "score"
    """How what is shown is arranged: best first, in reading order document by document, or the best at both ends."""
