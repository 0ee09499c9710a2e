// Write what follows from the mentions of entities.
// :param {rows: [{key: 'k', name: 'X-100', aliases: ['X100'], mentions: 3, titles: 1, description: 'A pressure sensor.'}]}
UNWIND $rows AS row
MATCH (entity:__Entity__ {key: row.key})
SET entity.name = row.name, entity.aliases = row.aliases, entity.mentions = row.mentions, entity.titles = row.titles, entity.description = row.description
