// The entities of which it is not said how many chunks are about them: of a store that was made before that was counted, or imported.
MATCH (entity:__Entity__)
WHERE entity.titles IS NULL
RETURN entity.key AS key
