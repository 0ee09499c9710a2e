"""A small picture of entities and relations: where each stands, so that the page only draws."""

from __future__ import annotations

from kgrag.jobs.neighbourhood import AnswerGraph

__all__ = ["positions"]

SEED = 7
MARGIN = 0.08


def positions(graph: AnswerGraph) -> dict[str, tuple[float, float]]:
    """Place each entity, x and y from 0 to 1: what is related or stands in the same chunk is near (Fruchterman and Reingold, networkx)."""
    import networkx

    drawn = networkx.Graph()
    drawn.add_nodes_from(node.key for node in graph.nodes)
    for index, one in enumerate(graph.nodes):
        for other in graph.nodes[index + 1 :]:
            shared = len(set(one.chunks) & set(other.chunks))
            if shared:
                drawn.add_edge(one.key, other.key, weight=0.15 * shared)
    for edge in graph.edges:
        if edge.head != edge.tail:
            drawn.add_edge(edge.head, edge.tail, weight=1.0)
    if not drawn:
        return {}
    placed = networkx.spring_layout(drawn, seed=SEED, iterations=80, k=2.2 / len(drawn) ** 0.5)
    xs, ys = [float(x) for x, _ in placed.values()], [float(y) for _, y in placed.values()]
    return {key: (_between(float(x), xs), _between(float(y), ys)) for key, (x, y) in placed.items()}


def _between(value: float, all_of_them: list[float]) -> float:
    low, high = min(all_of_them), max(all_of_them)
    share = 0.5 if high == low else (value - low) / (high - low)
    return round(MARGIN + share * (1 - 2 * MARGIN), 4)
