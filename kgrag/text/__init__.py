"""Language, in one room: words, sentences, quantities and units, names, questions. Knows neither documents nor graphs."""
