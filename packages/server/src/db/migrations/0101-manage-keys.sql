-- Keys may also do what maintainers do.
alter table admin_keys
  drop constraint admin_keys_scope_check,
  add constraint admin_keys_scope_check check (scope in ('read', 'write', 'manage'));
