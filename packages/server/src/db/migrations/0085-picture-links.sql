-- Whoever has the link sees the picture: it stands in the text of a pull request.
alter table page_pictures add column link uuid not null default gen_random_uuid();
create unique index page_pictures_by_link on page_pictures (link);
