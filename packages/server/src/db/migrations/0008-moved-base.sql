-- Files that the base branch and the job changed differently, where the base moved on before the job published: its
-- pull request says so. Null: the base did not move, or both changes went together.
alter table jobs add column base_conflict text[];
