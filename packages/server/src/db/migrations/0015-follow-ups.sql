-- A pull request as a whole, where messages follow its first prompt. Until a job's first message all of these are null.
-- Where its branch parted from the base branch: the base of the round that opened it.
alter table jobs add column fork_commit text;
-- What the stored diff is against: the base branch as it was by then, or where the branch parted from it.
alter table jobs add column diff_base text;
-- The commit that the last round left on the branch: whatever is on top of it, people pushed.
alter table jobs add column branch_commit text;
alter table jobs add column people_paths text[];
-- How this round's commit is called; `title` is the pull request's.
alter table jobs add column commit_title text;
-- What each earlier round said of its work: {message, title, pullTitle, summary, failure}; message 0 is the first prompt.
alter table jobs add column rounds jsonb not null default '[]';
