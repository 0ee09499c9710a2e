"""Query preparation: what is looked for instead of, or besides, the question as asked."""
