"""Whether a text only says that it does not answer: English, German, French, Italian, Spanish."""

from __future__ import annotations

import re

from kgrag.text.sentences import sentences

__all__ = ["is_refusal"]

_DOCUMENTS = (
    r"(?:documents?|documentation|passages?|contexts?|texts?|papers?|chunks?|sources?|excerpts?"
    r"|evidence|materials?|contents?|corpus|manuals?"
    r"|datasheets?|snippets?|information|articles?|references?)"
)
_SAYS = (
    r"(?:answer|contain|say|mention|provide|state|specify|include|address|discuss|give|cover"
    r"|describe|have|offer|relate|refer|talk|tell|indicate"
    r"|define|explain)\w*"
)
_ENGLISH = (
    r"\bi(?:'m| am) (?:sorry|afraid|unable|not able|not (?:sure|aware))|\bas an ai\b|\b(?:provide|need) more details\b"
    r"|\b(?:i|we) (?:do not|don't|did not|didn't) (?:\w+ )?(?:know|have|find|see)\b"
    r"|\b(?:can ?not|can't|could not|couldn't|unable to|not able to|not possible to|impossible to) (?:\w+ )?"
    r"(?:answer|find|determine|help|say|provide|tell|locate|identify|give|conclude|confirm|infer)\b"
    r"|\b(?:no|not enough|insufficient|not sufficient|lack of) (?:\w+ ){0,2}(?:information|evidence"
    r"|details|mention|answer)\b"
    rf"|\b{_DOCUMENTS}\b[^.;:]{{0,90}}\b(?:do|does|did)(?: not|n't) (?:\w+ ){{0,3}}{_SAYS}"
    rf"|\b(?:none of|nothing in|no) (?:the |these |those )?(?:\w+ )?{_DOCUMENTS}\b"
    r"|\b(?:is|are|was|were)(?: not|n't) (?:\w+ ){0,2}(?:mentioned|stated|specified|provided|given"
    r"|found|discussed|addressed|covered|described"
    r"|documented|answered|present in|in the|part of)\b"
    r"|\b(?:information|details?|answer)\b[^.;]{0,60}\b(?:is|are)(?: not|n't) (?:available|included|there)\b"
    r"|\b(?:outside|beyond|out of) the scope\b|\b(?:is|are) (?:unrelated|not related) to\b"
)
_GERMAN = (
    r"\b(?:tut mir leid|bedauere)\b|\bweiß (?:ich |es )*nicht\b|\bich weiß (?:es )?(?:leider )?nicht\b"
    r"|\b(?:kann|konnte|können|lässt sich)\b[^.;]*\bnicht (?:\w+ )?(?:beantworte|finde|gefunden"
    r"|bestimm|sage|ermittel|beantwortet)\w*"
    r"|\bkeine? (?:\w+ )?(?:Informationen|Information|Angaben?|Hinweise?|Antwort|Auskunft)\b"
    r"|\b(?:Dokumente?n?|Unterlagen|Passagen?|Texte?n?|Quellen?|Kontext"
    r"|Abschnitte?n?)\b[^.;]*\b(?:nicht|nichts|keine?n?)\b"
    r"|\bnicht (?:erwähnt|angegeben|enthalten|beschrieben|genannt|dokumentiert)\b"
)
_FRENCH = (
    r"\bdésolée?\b|\bje ne (?:sais|peux|trouve|dispose|suis|connais)\b|\bje n'ai\b[^.;]*\b(?:pas"
    r"|aucune?)\b|\b(?:aucune|pas d'|pas assez d')\s?informations?\b"
    r"|\b(?:documents?|passages?|textes?|contexte|sources?|extraits?)\b[^.;]*\b(?:ne"
    r"|n')\s?\w+[^.;]*\b(?:pas|rien|aucune?|ni)\b"
    r"|\bn'(?:est|a|ont|y a|sont)\b[^.;]*\bpas (?:été )?(?:mentionn|précis|indiqu|disponib|trouv|fourni|possible de)\w*"
    r"|\bimpossible de (?:répondre|déterminer|trouver|dire)\b"
)
_ITALIAN = (
    r"\bmi dispiace\b|\bnon (?:lo )?so\b|\bnon (?:posso|riesco|sono in grado|è possibile|si può"
    r"|possiamo)\b[^.;]*\b(?:rispond|trov|determin|forn|dir|stabil)\w*"
    r"|\b(?:nessuna|non (?:ci sono|ho|c'è)(?: \w+){0,3}) informazion\w+|\binformazioni (?:in|non )sufficienti\b"
    r"|\b(?:document\w*|passagg\w*|test[oi]|contest[oi]|font[ei]|brani"
    r"|brano)\b[^.;]*\bnon\b[^.;]*\b(?:contien|contengon|menzion|forni|riport|indic|dic|specific|rispond"
    r"|parl|tratta)\w*"
    r"|\bnon (?:è|sono|viene|vengono|si)\b[^.;]*\b(?:menzionat|indicat|specificat|presente|presenti"
    r"|disponibil|riportat|trov|parla)\w*"
)
_SPANISH = (
    r"\blo siento\b|\bno (?:lo )?sé\b|\bno (?:puedo|es posible|se puede|he podido|pude"
    r"|podemos)\b[^.;]*\b(?:respond|encontr|determin|proporcion|contest|dec)\w*"
    r"|\b(?:ninguna|no (?:hay|tengo|existe|dispongo)(?: \w+){0,3}) informaci\w+"
    r"|\binformación (?:insuficiente|no disponible)\b"
    r"|\b(?:document\w*|pasaj\w*|fragment\w*|text\w*|contexto"
    r"|fuentes?)\b[^.;]*\bno\b[^.;]*\b(?:contien|mencion|proporcion|indic|dice|especific|respond|habla|incluy|trata)\w*"
    r"|\bno (?:se|está|están|aparece|aparecen|es|fue)\b[^.;]*\b(?:mencion|indica|especifica"
    r"|encuentra|encontr|proporciona|disponib|describe|habla)\w*"
)
_REFUSING = re.compile("|".join((_ENGLISH, _GERMAN, _FRENCH, _ITALIAN, _SPANISH)), re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a text only says that it does not answer, in one of the languages above; an empty one does.

    A refusal says so at once. What follows may explain what was looked for or offer help, but at least half of the sentences refuse.
    """
    said = [one.text for one in sentences(text.replace("’", "'").strip()) if re.search(r"\w", one.text)]
    if not said:
        return True
    refusing = [bool(_REFUSING.search(sentence)) for sentence in said]
    return refusing[0] and sum(refusing) * 2 >= len(said)
