-- How a browser was logged in, and from where, for whoever looks at their own. Null: by a release that did not write it.
alter table sessions add column opened_by text;
alter table sessions add column opened_from text;
