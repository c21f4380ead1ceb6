-- The API of a context repository's forge, where it does not follow from the repository's address.
alter table context_repositories add column api_url text;
