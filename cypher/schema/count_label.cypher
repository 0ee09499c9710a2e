// How many nodes have a label: from the count store, whatever their number.
MATCH (node:`NODE_LABEL`)
RETURN count(*) AS nodes
