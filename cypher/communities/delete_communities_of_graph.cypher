// Delete some communities of a graph; again until nothing is left.
// :param {scope: 'mention', limit: 5000}
MATCH (community:__Community__)
WHERE community.graph = $scope
WITH community LIMIT $limit
DETACH DELETE community
