// Who may import whom: ARCHITECTURE.md's two tables.
const server = "^packages/server/src/";

/** Files below `from` may import, of the server's own folders, only those named (and the files at its top where said). */
function folder(from, mayImport) {
  const allowed = [from, ...mayImport].map((name) => `${server}${name}(/|\\.ts$)`);
  return {
    name: `${from}-imports`,
    severity: "error",
    comment: `${from} may import ${mayImport.join(", ")}`,
    from: { path: `${server}${from}/`, pathNot: "\\.test\\.ts$" },
    to: { path: server, pathNot: allowed },
  };
}

/** A package below `packages/` may import, of ours, only those named. */
function room(name, mayImport) {
  return {
    name: `${name}-imports`,
    severity: "error",
    comment: `${name} may import ${mayImport.join(", ")}`,
    from: { path: `^packages/${name}/src/`, pathNot: "\\.test\\.ts$" },
    to: { path: "^packages/", pathNot: [name, ...mayImport].map((each) => `^packages/${each}/`) },
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
    room("base", ["contract", "site"]),
    room("tree", ["base", "site"]),
    room("review", ["base", "site", "tree"]),
    room("forges", ["base", "contract", "tree"]),
    room("agent", ["base", "contract", "runners", "site", "tree"]),
    {
      name: "testkit-and-lab-are-for-tests",
      severity: "error",
      from: {
        path: "^packages/[^/]+/src/",
        pathNot: "^packages/testkit/|\\.test\\.ts$",
      },
      to: { path: "^packages/(?:testkit|lab)/" },
    },
    {
      name: "second-resolver-imports",
      severity: "error",
      comment: "the second resolver shares no code with the index that it judges: it imports itself and types",
      from: { path: "^packages/site/src/second-resolver/", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/", pathNot: "^packages/site/src/(second-resolver/|types\\.ts$)" },
    },
    room("sdk", ["contract"]),
    room("mcp", ["contract", "sdk"]),
    {
      name: "action-imports",
      severity: "error",
      comment: "the action is a client like any other, or `emend check`",
      from: { path: "^packages/action/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!action/|sdk/|site/|cli/src/check/)" },
    },
    room("publish", ["base", "contract", "forges", "site", "tree"]),
    room("knowledge", ["base", "runners"]),
    room("tracing", ["agent", "base"]),
    room("build", ["base", "runners", "site", "tree"]),
    room("chat", ["base"]),
    {
      name: "chat-siblings",
      severity: "error",
      from: { path: "^packages/chat/src/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/chat/src/[^/]+/", pathNot: "^packages/chat/src/$1/" },
    },
    room("lsp", ["site"]),
    room("runners", []),
    {
      name: "runners-are-opened-once",
      severity: "error",
      from: {
        path: "^packages/(?!runners/)",
        pathNot: `^packages/build/src/|^packages/knowledge/src/start-program\\.ts$|^packages/lab/|^packages/(?:agent/src/runner-model|cli/src/check/trust)\\.ts$|\\.test\\.ts$`,
      },
      to: { path: "^packages/runners/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "cli-imports",
      severity: "error",
      comment:
        "the cli starts the server through its index and knows nothing of its inside; --trust runs a configuration",
      from: { path: "^packages/cli/src", pathNot: "\\.test\\.ts$|^packages/cli/src/check/trust\\.ts$" },
      to: { path: "^packages/(?!(?:cli|contract|lsp|mcp|sdk|site)/|server/src/index\\.ts$)" },
    },
    room("server", [
      "agent",
      "base",
      "build",
      "chat",
      "contract",
      "forges",
      "knowledge",
      "mcp",
      "publish",
      "review",
      "runners",
      "site",
      "tracing",
      "tree",
    ]),
    folder("lib", ["errors"]),
    folder("db", ["lib", "errors"]),
    folder("accounts", ["db", "lib", "errors"]),
    folder("jobs", ["db", "lib", "errors"]),
    folder("notify", ["db", "lib", "errors"]),
    folder("tasks", ["db", "lib", "errors"]),
    folder("health", ["accounts", "db", "lib", "errors"]),
    folder("automations", ["accounts", "jobs", "db", "lib", "errors"]),
    folder("claims", ["accounts", "jobs", "db", "lib", "errors"]),
    folder("backup", ["db", "forge", "lib", "errors"]),
    folder("metrics", ["db", "lib", "errors"]),
    folder("forge", ["lib", "errors", "db"]),
    folder("gate", ["claims", "accounts", "jobs", "lib", "errors", "db"]),
    folder("chat", ["accounts", "jobs", "lib", "errors", "db"]),
    folder("issues", ["accounts", "jobs", "lib", "errors", "db"]),
    folder("learn", ["accounts", "jobs", "lib", "errors", "db"]),
    folder("run", ["jobs", "lib", "errors", "db"]),
    folder("http", ["automations", "claims", "gate", "health", "accounts", "jobs", "notify", "lib", "errors", "db"]),
    folder("operations", ["accounts", "dashboard", "db", "errors", "http", "lib", "notify"]),
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
      from: { path: "^packages/dashboard/src", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/(?!dashboard/|contract/)" },
    },
    {
      name: "forge-siblings",
      severity: "error",
      from: { path: "^packages/forges/src/([^/]+)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/forges/src/[^/]+/", pathNot: "^packages/forges/src/$1/" },
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
