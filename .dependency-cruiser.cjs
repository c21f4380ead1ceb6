// Who may import whom: ARCHITECTURE.md's table, held by `npm test`.
const server = "^packages/server/src/";

/** Files below `from` may import, of the server's own folders, only those named (and the files at its top where said). */
function folder(from, mayImport) {
  const allowed = [from, ...mayImport].map((name) => `${server}${name}(/|\\.ts$)`);
  return {
    name: `${from}-imports`,
    severity: "error",
    comment: `${from} may import ${mayImport.join(", ") || "nothing of ours"}`,
    from: { path: `${server}${from}/`, pathNot: "\\.test\\.ts$" },
    to: { path: server, pathNot: allowed },
  };
}

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      severity: "error",
      comment: "no circle of imports between files, types included: move the type to the file that owns it",
      from: {},
      to: { circular: true },
    },
    {
      name: "contract-imports",
      severity: "error",
      from: { path: "^packages/contract/" },
      to: { path: "^packages/(?!contract/)" },
    },
    { name: "site-imports", severity: "error", from: { path: "^packages/site/" }, to: { path: "^packages/(?!site/)" } },
    {
      name: "sdk-imports",
      severity: "error",
      from: { path: "^packages/sdk/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!sdk/|contract/)" },
    },
    {
      name: "mcp-imports",
      severity: "error",
      comment: "the tools are a client like any other",
      from: { path: "^packages/mcp/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!mcp/|sdk/)" },
    },
    {
      name: "action-imports",
      severity: "error",
      comment: "the action is a client like any other, or `emend check`",
      from: { path: "^packages/action/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!action/|sdk/|site/|cli/src/check/)" },
    },
    {
      name: "lsp-imports",
      severity: "error",
      comment: "editors need the site and nothing else",
      from: { path: "^packages/lsp/src" },
      to: { path: "^packages/(?!lsp/|site/)" },
    },
    {
      name: "runners-imports",
      severity: "error",
      comment: "the server gives a runner all that it needs",
      from: { path: "^packages/runners/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!runners/)" },
    },
    {
      name: "runners-are-opened-once",
      severity: "error",
      from: {
        path: "^packages/(?!runners/)",
        pathNot: `${server}agent/runner-model\\.ts$|\\.test\\.ts$`,
      },
      to: { path: "^packages/runners/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "cli-imports",
      severity: "error",
      comment: "the cli starts the server through its index and knows nothing of its inside",
      from: { path: "^packages/cli/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/server/(?!src/index\\.ts$)" },
    },
    {
      name: "server-imports",
      severity: "error",
      from: { path: "^packages/server/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(cli|sdk)/" },
    },
    folder("lib", []),
    folder("secrets", ["lib", "errors"]),
    folder("hosts", ["lib"]),
    folder("db", ["lib", "errors"]),
    folder("accounts", ["db", "lib", "errors"]),
    folder("jobs", ["secrets", "db", "lib", "errors"]),
    folder("notify", ["db", "lib", "errors"]),
    folder("tasks", ["db", "lib", "errors"]),
    folder("health", ["accounts", "db", "lib", "errors"]),
    folder("automations", ["accounts", "jobs", "tree", "hosts", "db", "lib", "errors"]),
    folder("claims", ["accounts", "jobs", "secrets", "tree", "db", "lib", "errors"]),
    folder("backup", ["db", "forge", "lib", "errors"]),
    folder("metrics", ["agent", "db", "lib", "errors"]),
    folder("tracing", ["agent", "metrics", "lib", "errors"]),
    folder("tree", ["lib", "errors"]),
    folder("agent", ["tree", "secrets", "lib", "errors"]),
    folder("review", ["tree", "secrets", "hosts", "lib", "errors"]),
    folder("forge", ["lib", "errors", "db", "tree"]),
    folder("gate", ["accounts", "jobs", "forge", "tree", "lib", "errors", "db"]),
    folder("publish", ["tree", "forge", "secrets", "lib", "errors"]),
    folder("run", ["jobs", "tree", "agent", "review", "publish", "forge", "lib", "errors", "db"]),
    folder("http", ["automations", "claims", "accounts", "jobs", "notify", "lib", "errors", "db"]),
    folder("dashboard", [
      "claims",
      "health",
      "gate",
      "automations",
      "accounts",
      "jobs",
      "notify",
      "http",
      "lib",
      "errors",
      "db",
    ]),
    {
      name: "dashboard-imports-contract",
      severity: "error",
      comment: "the app knows the server by the types of its answers alone",
      from: { path: "^packages/dashboard/src" },
      to: { path: "^packages/(?!dashboard/|contract/)" },
    },
    {
      name: "forge-siblings",
      severity: "error",
      from: { path: `${server}forge/([^/]+)/`, pathNot: "\\.test\\.ts$" },
      to: { path: `${server}forge/[^/]+/`, pathNot: `${server}forge/$1/` },
    },
    {
      name: "config-is-read-once",
      severity: "error",
      from: { path: server, pathNot: `${server}(compose/compose|config/.*|index)\\.ts$|\\.test\\.ts$` },
      to: { path: `${server}config/config\\.ts$`, dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|fixtures|sample|sample-code)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs"],
    },
  },
};
