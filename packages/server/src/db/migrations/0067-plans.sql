-- The first round of such a job only makes a plan. A message has it carried out.
alter table jobs add column plan boolean not null default false;
-- functions: 877efd569c78ab73
