"""Questions of a graph: templates over one to three triples, and what a community of entities is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from kgrag.evaluate.questions.draft import Draft
from kgrag.evaluate.questions.material import Material, StatedRelation
from kgrag.text.names import normal_form
from kgrag.types import content_id

__all__ = ["bridges", "communities", "same_relation", "triples"]

WORDING: dict[str, tuple[str, str]] = {
    "BASED_ON": ("What is {} based on?", "what {} is based on"),
    "BORN_IN": ("Where was {} born?", "the place where {} was born"),
    "CHILD_OF": ("Who is a parent of {}?", "the parent of {}"),
    "COMPATIBLE_WITH": ("What is {} compatible with?", "what {} is compatible with"),
    "CONNECTS_TO": ("What does {} connect to?", "what {} connects to"),
    "DIED_IN": ("Where did {} die?", "the place where {} died"),
    "DIRECTED_BY": ("Who directed {}?", "the director of {}"),
    "FOUNDED_BY": ("Who founded {}?", "the founder of {}"),
    "HAS_CAST": ("Who stars in {}?", "the star of {}"),
    "HAS_PART": ("What does {} include?", "the part that {} includes"),
    "IS_A": ("What kind of thing is {}?", "the kind of thing that {} is"),
    "IS": ("What kind of thing is {}?", "what {} is"),
    "LOCATED_IN": ("Where is {} located?", "the place where {} is located"),
    "MADE_BY": ("Who made {}?", "the maker of {}"),
    "MARRIED_TO": ("Who is the spouse of {}?", "the spouse of {}"),
    "PART_OF": ("What is {} part of?", "what {} is part of"),
    "PERFORMED_BY": ("Who performed {}?", "the performer of {}"),
    "POWERED_BY": ("What is {} powered by?", "what powers {}"),
    "PROVIDES": ("What does {} provide?", "what {} provides"),
    "REPLACES": ("What does {} replace?", "what {} replaces"),
    "REQUIRES": ("What does {} require?", "what {} requires"),
    "SIBLING_OF": ("Who is a sibling of {}?", "the sibling of {}"),
    "SUPPORTS": ("What does {} support?", "what {} supports"),
    "USES": ("What does {} use?", "what {} uses"),
    "WAS": ("What kind of thing was {}?", "what {} was"),
    "WRITTEN_BY": ("Who wrote {}?", "the writer of {}"),
}
"""How a relation is asked for, and how what it leads to is called inside a longer question; any other type is put into words as it is."""
_IRREGULAR = "born built drawn driven found given held known led made ridden run set shown sung taken written"
IRREGULAR = frozenset(_IRREGULAR.split())
"""Participles that do not end in -ed."""
UNASKED = frozenset({"HAS_ATTRIBUTE", "HAS_VALUE", "RELATED_TO", "SIMILAR"})
"""Relations that say too little to be asked for; table cells are asked for by themselves."""
LAST_ALONE = frozenset({"IS_A", "IS", "WAS"})
"""Relations that lead nowhere: only the last hop of a question may be one, where it is the only one."""
_PREPOSITIONS = "about after as at before by for from in into of on over through to under with"
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
FORMS_OF_BE = frozenset(["is", "are", "was", "were", "has", "have", "had", "does", "did", "can", "will"])
HEADING_PATH = " > "
"""In what a relation says: it is only the place of a heading below another."""
LONGEST_NAME = 8
"""Words: a longer one is a clause."""
MOST_HOPS = 3
MOST_TAILS = 1
"""Things that a head has by one relation: more, and the question has several answers."""
COMMON = 25
"""Relations of an entity: one with more is a hub (a country), over which nearly everything is connected."""
MOST_CHAINS = 20_000
"""Of a graph, before they are thinned by the seed."""
LARGEST_COMMUNITY = 40
MEMBERS_NAMED = 4


def triples(material: Material) -> Iterator[Draft]:
    """Ask for the tail of one triple."""
    for relation in _asked(material):
        yield _question(material, (relation,), "triples")


def bridges(material: Material) -> Iterator[Draft]:
    """Ask over two or three triples, each stated in another document than the one before: what is between them is not named."""
    of_head: dict[str, list[StatedRelation]] = defaultdict(list)
    for relation in _asked(material):
        if relation.type not in LAST_ALONE:
            of_head[relation.head].append(relation)
    degree: dict[str, int] = defaultdict(int)
    for some in of_head.values():
        for relation in some:
            degree[relation.tail] += 1
    chains: list[tuple[StatedRelation, ...]] = [(one,) for some in of_head.values() for one in some]
    for _ in range(MOST_HOPS - 1):
        longer = [
            (*chain, further)
            for chain in chains
            if degree[chain[-1].tail] <= COMMON
            for further in of_head.get(chain[-1].tail, ())
            if further.tail not in {end for one in chain for end in (one.head, one.tail)}
            and _other_document(material, chain, further)
        ]
        chains = sorted(longer, key=lambda chain: content_id(*(f"{one.head} {one.type}" for one in chain)))[
            :MOST_CHAINS
        ]
        for chain in chains:
            yield _question(material, chain, "bridges")


def same_relation(material: Material) -> Iterator[Draft]:
    """Compare two things of one kind (IS_A) by a relation that both have, each in another document."""
    kinds = {one.head: one.tail for one in material.relations if one.type in LAST_ALONE}
    groups: dict[tuple[str, str], list[StatedRelation]] = defaultdict(list)
    for relation in _asked(material):
        if relation.head in kinds and relation.type not in LAST_ALONE:
            groups[kinds[relation.head], relation.type].append(relation)
    for group in groups.values():
        ordered = sorted(group, key=lambda one: content_id(one.head, one.type))
        for one, other in pairwise(ordered):
            if _other_document(material, (one,), other):
                form = _wording(one.type)[0]
                second = form.format(other.head_name)
                yield Draft(
                    "comparisons",
                    "one relation that two things of one kind have, each in another document",
                    "comparison",
                    f"{form.format(one.head_name).removesuffix('?')}, and {second[0].lower()}{second[1:]}",
                    (frozenset(one.chunks), frozenset(other.chunks)),
                    answers=(f"{one.tail_name}; {other.tail_name}",),
                    gold_facts=(_said(one), _said(other)),
                    document=material.path_of[material.by_id[one.chunks[0]].document_id],
                )


def communities(material: Material) -> Iterator[Draft]:
    """Ask for a summary of what a small community of entities is about: the chunks that name two of its members or more."""
    normals: dict[str, set[str]] = defaultdict(set)
    for relation in material.relations:
        for name in (relation.head_name, relation.tail_name):
            normals[normal_form(name)].update(relation.chunks)
    for community, members in material.communities:
        if not 3 <= len(members) <= LARGEST_COMMUNITY:
            continue
        named = sorted(members, key=lambda one: (-len(normals[normal_form(one)]), one))[:MEMBERS_NAMED]
        counts: dict[str, int] = defaultdict(int)
        for member in members:
            for chunk in normals[normal_form(member)]:
                counts[chunk] += 1
        stating = sorted((chunk for chunk, count in counts.items() if count > 1), key=lambda one: (-counts[one], one))[
            :8
        ]
        if len(stating) > 1:
            yield Draft(
                "communities",
                "the best connected members of a community ask for what is said of them; gold are the chunks that name most of its members",
                "summary",
                f"Summarise what the documents say about {', '.join(named[:-1])} and {named[-1]}.",
                tuple(frozenset((chunk,)) for chunk in stating),
                answers=(community.summary,) if community.summary else (),
                document=community.key,
            )


def _asked(material: Material) -> list[StatedRelation]:
    """Return the relations that a question with one answer can be made of."""
    tails: dict[tuple[str, str], set[str]] = defaultdict(set)
    for relation in material.relations:
        tails[relation.head, relation.type].add(relation.tail)
    titles = {document.title.casefold() for document in material.documents if document.format != "jsonl"}
    return [
        relation
        for relation in material.relations
        if relation.type not in UNASKED
        and not (relation.type == "PART_OF" and relation.tail_name.casefold() in titles)
        and not any(HEADING_PATH in one for one in relation.says)
        and max(len(relation.head_name.split()), len(relation.tail_name.split())) <= LONGEST_NAME
        and relation.chunks
        and len(tails[relation.head, relation.type]) <= MOST_TAILS
        and normal_form(relation.head_name) not in normal_form(relation.tail_name)
        and normal_form(relation.tail_name) not in normal_form(relation.head_name)
    ]


def _other_document(material: Material, chain: tuple[StatedRelation, ...], further: StatedRelation) -> bool:
    known = {material.by_id[chunk].document_id for one in chain for chunk in one.chunks if chunk in material.by_id}
    return not known & {material.by_id[chunk].document_id for chunk in further.chunks if chunk in material.by_id}


def _question(material: Material, chain: tuple[StatedRelation, ...], kind: str) -> Draft:
    subject = chain[0].head_name
    for relation in chain[:-1]:
        subject = _wording(relation.type)[1].format(subject)
    hops = "one triple" if len(chain) == 1 else f"{len(chain)} triples, each in another document than those before"
    return Draft(
        kind,
        f"a template over {hops}",
        "factual" if len(chain) == 1 else "multi_hop",
        _wording(chain[-1].type)[0].format(subject),
        tuple(frozenset(relation.chunks) for relation in chain),
        answers=(chain[-1].tail_name,),
        gold_facts=tuple(map(_said, chain)),
        document=material.path_of[material.by_id[chain[0].chunks[0]].document_id],
    )


def _said(relation: StatedRelation) -> str:
    return next(filter(None, relation.says), f"{relation.head_name} {_verb(relation.type)} {relation.tail_name}")


def _wording(relation_type: str) -> tuple[str, str]:
    """Return the question and the phrase of a relation, each with a place for what it is said of."""
    if known := WORDING.get(relation_type):
        return known
    verb = _verb(relation_type).replace("{", "").replace("}", "")
    return f"What is it that {{}} {verb}?", f"the thing that {{}} {verb}"


def _verb(relation_type: str) -> str:
    words = relation_type.casefold().split("_")
    if words[0] in FORMS_OF_BE or words[-1] not in PREPOSITIONS:
        return " ".join(words)
    participle = words[0].endswith("ed") or words[0] in IRREGULAR or len(words) == 2
    return " ".join(("is", *words) if participle and not words[0].endswith("s") else words)
