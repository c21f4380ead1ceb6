import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent, Navigate } from "@tanstack/react-router";
import { appPath } from "./base-path.ts";
import { PageBroke } from "./layout/page-broke.tsx";
import { Shell } from "./layout/shell.tsx";
import { JobsPage } from "./pages/jobs/jobs-page.tsx";
import { buttonLook } from "./parts/button.tsx";
import { Empty } from "./parts/notice.tsx";

// The start page is in the first bundle; other pages load on their first visit or when a link is hovered.
const JobPage = lazyRouteComponent(() => import("./pages/job/job-page.tsx"), "JobPage");
const AddProjectPage = lazyRouteComponent(() => import("./pages/projects/add-project.tsx"), "AddProjectPage");
const GithubAppPage = lazyRouteComponent(() => import("./pages/projects/github-app.tsx"), "GithubAppPage");
const GatePage = lazyRouteComponent(() => import("./pages/gates/gate-page.tsx"), "GatePage");
const BatchPage = lazyRouteComponent(() => import("./pages/jobs/batch-page.tsx"), "BatchPage");
const DocsPage = lazyRouteComponent(() => import("./pages/health/docs-page.tsx"), "DocsPage");
const HealthPage = lazyRouteComponent(() => import("./pages/health/health-page.tsx"), "HealthPage");
const ReadDocsPage = lazyRouteComponent(() => import("./pages/docs/read-docs.tsx"), "ReadDocsPage");
const UsagePage = lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage");
const InboxPage = lazyRouteComponent(() => import("./pages/inbox/inbox-page.tsx"), "InboxPage");
const SearchPage = lazyRouteComponent(() => import("./pages/search/search-page.tsx"), "SearchPage");
const KeysPage = lazyRouteComponent(() => import("./pages/keys/keys-page.tsx"), "KeysPage");
const ConnectPage = lazyRouteComponent(() => import("./pages/connect/connect-page.tsx"), "ConnectPage");
const ProjectPage = lazyRouteComponent(() => import("./pages/projects/project-page.tsx"), "ProjectPage");
const ProjectsPage = lazyRouteComponent(() => import("./pages/projects/projects-page.tsx"), "ProjectsPage");
const PullPage = lazyRouteComponent(() => import("./pages/pulls/pull-page.tsx"), "PullPage");
const PullsPage = lazyRouteComponent(() => import("./pages/pulls/pulls-page.tsx"), "PullsPage");

const WelcomePage = lazyRouteComponent(() => import("./pages/login/welcome-page.tsx"), "WelcomePage");
const StartPage = lazyRouteComponent(() => import("./pages/start/start-page.tsx"), "StartPage");
const SettingsPage = lazyRouteComponent(() => import("./pages/settings/settings-page.tsx"), "SettingsPage");

function NoPage() {
  return (
    <Empty>
      <h1>Page not found</h1>
      <Link to="/" search={{}} className={buttonLook("ordinary")}>
        Go to jobs
      </Link>
    </Empty>
  );
}

const root = createRootRoute({ component: Shell, notFoundComponent: NoPage });

/** The list's filter is in the URL: it can be shared and survives a reload. */
const jobs = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: JobsPage,
  validateSearch: (given: Record<string, unknown>) => ({
    ...pick("project", given),
    ...pick("status", given),
    ...pick("search", given),
  }),
});
/** Whoever shortens a job's address by hand gets the list. */
const jobsAsked = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  component: () => <Navigate to="/" replace />,
});
const job = createRoute({ getParentRoute: () => root, path: "/jobs/$id", component: JobPage });
const batch = createRoute({
  getParentRoute: () => root,
  path: "/batch",
  component: BatchPage,
  validateSearch: (given: Record<string, unknown>) => ({ ...pick("ids", given), ...pick("missing", given) }),
});
const inbox = createRoute({ getParentRoute: () => root, path: "/inbox", component: InboxPage });
const search = createRoute({
  getParentRoute: () => root,
  path: "/search",
  component: SearchPage,
  validateSearch: (given: Record<string, unknown>) => pick("text", given),
});
const keys = createRoute({ getParentRoute: () => root, path: "/keys", component: KeysPage });
/** A program asks for access. `to` is its request, while the person is not logged in. */
const connect = createRoute({
  getParentRoute: () => root,
  path: "/connect",
  component: ConnectPage,
  validateSearch: (given: Record<string, unknown>) => pick("to", given),
});
const projects = createRoute({ getParentRoute: () => root, path: "/projects", component: ProjectsPage });
const project = createRoute({
  getParentRoute: () => root,
  path: "/projects/$id",
  component: ProjectPage,
  validateSearch: (given: Record<string, unknown>) => pick("tab", given),
});
const addProject = createRoute({
  getParentRoute: () => root,
  path: "/projects/new",
  component: AddProjectPage,
  validateSearch: (given: Record<string, unknown>) => pick("from", given),
});
const githubApp = createRoute({
  getParentRoute: () => root,
  path: "/github-app",
  component: GithubAppPage,
  validateSearch: (given: Record<string, unknown>) => ({
    ...pick("app", given),
    ...pick("code", given),
    ...pick("state", given),
  }),
});
const health = createRoute({
  getParentRoute: () => root,
  path: "/health",
  component: HealthPage,
  validateSearch: (given: Record<string, unknown>) => pick("project", given),
});
const docsPage = createRoute({
  getParentRoute: () => root,
  path: "/health/page",
  component: DocsPage,
  validateSearch: (
    given: Record<string, unknown>,
  ): { project?: string; path?: string; line?: number; edit?: true } => ({
    ...pick("project", given),
    ...pick("path", given),
    ...(Number.isInteger(given.line) && { line: given.line as number }),
    ...(given.edit === true && { edit: true }),
  }),
});
const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  component: UsagePage,
  validateSearch: (given: Record<string, unknown>): { days?: number } =>
    Number.isInteger(given.days) ? { days: given.days as number } : {},
});
const pulls = createRoute({
  getParentRoute: () => root,
  path: "/pulls",
  component: PullsPage,
  validateSearch: (given: Record<string, unknown>) => ({
    ...pick("project", given),
    ...pick("state", given),
    ...pick("forge", given),
  }),
});
const pull = createRoute({
  getParentRoute: () => root,
  path: "/pulls/$projectId/$number",
  component: PullPage,
  // A file to edit, at a line.
  validateSearch: (given: Record<string, unknown>): { edit?: string; line?: number } => ({
    ...pick("edit", given),
    ...(Number.isInteger(given.line) && { line: given.line as number }),
  }),
});
const docs = createRoute({ getParentRoute: () => root, path: "/docs/$page", component: ReadDocsPage });
const gate = createRoute({ getParentRoute: () => root, path: "/gates/$id", component: GatePage });

const login = createRoute({ getParentRoute: () => root, path: "/login", component: () => <Navigate to="/" replace /> });
const welcome = createRoute({ getParentRoute: () => root, path: "/welcome", component: WelcomePage });
const start = createRoute({ getParentRoute: () => root, path: "/start", component: StartPage });
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: SettingsPage,
  validateSearch: (given: Record<string, unknown>) => ({
    ...pick("tab", given),
    ...pick("actor", given),
    ...pick("action", given),
  }),
});

function pick<K extends string>(name: K, given: Record<string, unknown>): { [name in K]?: string } {
  const value = given[name];
  return (value === undefined || value === "" ? {} : { [name]: String(value) }) as { [name in K]?: string };
}

export function createAppRouter() {
  return createRouter({
    routeTree: root.addChildren([
      jobs,
      jobsAsked,
      job,
      batch,
      inbox,
      search,
      keys,
      connect,
      projects,
      project,
      addProject,
      githubApp,
      health,
      docsPage,
      usage,
      pulls,
      pull,
      gate,
      docs,
      login,
      welcome,
      start,
      settings,
    ]),
    basepath: appPath,
    defaultPreload: "intent",
    // Without it, an error anywhere would remove the whole dashboard.
    defaultErrorComponent: PageBroke,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
