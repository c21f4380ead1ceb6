-- Until when a request to open the job's pull request may still take effect on the forge. Null: none was sent.
alter table jobs add column create_until timestamptz;
