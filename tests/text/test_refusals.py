"""Refusals told from answers, whatever their wording and language."""

from __future__ import annotations

import pytest

from kgrag.text.refusals import is_refusal

REFUSALS = (
    "",
    "I don't know.",
    "I'm sorry, but I cannot answer this question from the passages.",
    "The documents do not answer this.",
    "The provided context does not contain any information about the film Avatar.",
    "There is no mention of a warranty in these manuals.",
    "None of the passages describes how to clean the sensor. The vendor's site, which is not mentioned here either, may help.",
    "Based on the excerpts, I could not find the price.",
    "It isn't stated which fuse is used.",
    "This question is outside the scope of the documents.",
    "Unfortunately we did not find an answer. No passage speaks of carbonara.",
    "Die Dokumente beantworten diese Frage nicht.",
    "Es tut mir leid, dazu liegen mir keine Angaben vor.",
    "Das kann ich anhand der Passagen nicht beantworten.",
    "Les documents ne mentionnent pas le prix.",
    "Je suis désolé, je ne trouve aucune information à ce sujet.",
    "Il n'est pas possible de répondre : l'information n'est pas disponible.",
    "Mi dispiace, i documenti non contengono questa informazione.",
    "Non è possibile rispondere alla domanda con i passaggi forniti.",
    "Lo siento, no puedo responder a esta pregunta.",
    "Los fragmentos no mencionan la receta.",
    "No hay información sobre el resultado del partido en los documentos.",
)
ANSWERS = (
    "The X-100 runs at 3.3 V [1].",
    "The X-100 does not include a cable [2].",
    "No: the valve must not be opened while the pump runs [1].",
    "It has no display.",
    "The document management system stores 20 files.",
    "You cannot connect two sensors to one port [3].",
    "The board is not available with a 5 V rail, only with 3.3 V and 1.8 V [1].",
    "The passage between the chambers is 3 mm wide.",
    "Error E-12 means that the sensor did not answer within 2 s. Replace the cable and start again.",
    "If no data arrive for 5 s, the watchdog resets the board.",
    "The X-100 weighs 12 g. The documents do not say what the carrier weighs. Both fit the TCB-4. It has two slots.",
    "Der Sensor darf nicht über 85 °C betrieben werden.",
    "Die Pumpe hat keine Anzeige.",
    "Le capteur ne supporte pas 12 V.",
    "La carte pèse 12 g.",
    "Il sensore non funziona sotto i 3 V.",
    "La scheda pesa 12 g e ha due slot.",
    "El sensor no funciona con 12 V.",
    "La placa pesa 12 g.",
    "It does not include a cable, and they have no display.",
    "Yes.",
)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_told_by_what_it_says(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_none_also_where_it_denies_something(text: str) -> None:
    assert not is_refusal(text)
