-- A step's messages byte for byte: jsonb orders the keys of a tool's arguments, and a vendor's prompt cache then misses.
-- Null: stored by a release that did not write it, or forgotten with `messages`, which the release before this one reads.
alter table steps add column said json;
-- What a round did in answer to a message; `summary` is then that of the whole pull request.
alter table jobs add column reply text;
