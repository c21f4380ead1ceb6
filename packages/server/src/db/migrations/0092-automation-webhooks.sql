-- What signs the webhooks that start an automation, where a service chose it; null: it is derived from EMEND_SECRET.
alter table automations add column webhook_secret bytea;
