-- Azure DevOps is a forge too.
alter table projects
  drop constraint projects_forge_check,
  add constraint projects_forge_check
    check (forge in ('local', 'github', 'gitlab', 'gitea', 'bitbucket', 'azure-devops'));
alter table context_repositories
  drop constraint context_repositories_forge_check,
  add constraint context_repositories_forge_check
    check (forge in ('local', 'github', 'gitlab', 'gitea', 'bitbucket', 'azure-devops'));
