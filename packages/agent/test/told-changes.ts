// Changes that a model could hand over, as data: what it read, what it wrote and what it says of it.

export interface ToldChange {
  name: string;
  asked: string;
  /** The repository. The agent reads all of it, but for the page. */
  files: Readonly<Record<string, string>>;
  /** What else it was given. */
  attached?: Readonly<Record<string, string>>;
  /** `page.md` before, if not a short page. */
  before?: string;
  /** What it adds to `page.md`; `after` is the whole page. */
  adds?: string;
  after?: string;
  sources?: readonly string[];
  title?: string;
  summary?: string;
  /** What a reader that understands it says, if its question holds these texts. Absent: the change is right. */
  wrong?: { kind: string; quote: string; knows: readonly string[] };
  /** What the agent writes instead of the quote when it gets the finding back. Absent: it changes nothing. */
  repair?: string;
  /** The repair is wrong, too. */
  repairIsWrong?: { quote: string };
}

const limits = `class Limits:
    max_connections=100  # all hosts
    max_keepalive_connections=20
    keepalive_expiry = 5.0  # seconds
`;
const server = `// 50kb
const bodyMax = 51200;
export const host = "127.0.0.1";
const retryDelayMs = 250;
server.listen(port, host);
if (!options.force) throw new Error("exists"); // kept unless force
`;
const cli = `program.command("build").option("--out-dir <dir>", "where to write").option("--watch");\n`;
const table = `# Options

| Option | Default |
| --- | --- |
| \`zeta\` | true |
| \`alpha\` | 1 |
| \`delta\` | none |
| \`beta\` | true |
`;
const jwk = JSON.stringify({
  kty: "RSA",
  n: "sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1WlUzewbgBHod5pcM9H95GQRV3JDXboIRROSBigeC5yjU1hGzHHyXss8UDpre",
  e: "AQAB",
  d: "VFCWOqXr8nvZNyaaJLXdnNPXZKRaWCjkU5Q2egQQpTBMwhprMzWzpR8Sxq1OPThh_J6MUD8Z35wky9b8eEO0pwNS8xlh1lOFRRBoNqDIKVOku0aZb",
});

/** The fifteen kinds that were found by hand. */
export const wrongChanges: readonly ToldChange[] = [
  {
    name: "two defaults are swapped, with the right citation",
    asked: "Document the connection limits.",
    files: { "limits.py": limits },
    adds: "`max_connections` defaults to 20 and `max_keepalive_connections` to 100.",
    sources: ["limits.py:2-3: `max_connections` defaults to 20 and `max_keepalive_connections` to 100."],
    wrong: { kind: "contradicted", quote: "`max_connections` defaults to 20", knows: ["max_connections=100"] },
  },
  {
    name: "an option in a table that does not exist, without a source",
    asked: "Document the options of build.",
    files: { "cli.js": cli },
    adds: "| Option | Default |\n| --- | --- |\n| `--out-dir` | none |\n| `--minify` | on |",
    wrong: { kind: "unsourced", quote: "| `--minify` | on |", knows: ["--out-dir <dir>"] },
  },
  {
    name: "seconds became milliseconds",
    asked: "Document keep-alive.",
    files: { "limits.py": limits },
    adds: "An idle connection is closed after 5 ms.",
    sources: ["limits.py:4: An idle connection is closed after 5 ms."],
    wrong: { kind: "contradicted", quote: "is closed after 5 ms", knows: ["5.0  # seconds"] },
  },
  {
    name: "five minutes for 5.0 seconds",
    asked: "Document keep-alive.",
    files: { "limits.py": limits },
    adds: "An idle connection is closed after 5 minutes.",
    wrong: { kind: "contradicted", quote: "is closed after 5 minutes", knows: ["5.0  # seconds"] },
  },
  {
    name: "50 MB beside 50kb",
    asked: "Document the size of bodies.",
    files: { "server.js": server },
    adds: "A body may have 50 MB.",
    sources: ["server.js:1-2: A body may have 50 MB."],
    wrong: { kind: "contradicted", quote: "A body may have 50 MB", knows: ["// 50kb"] },
  },
  {
    name: "an inverted unless",
    asked: "Document what happens to files.",
    files: { "server.js": server },
    adds: "A file that exists is replaced unless you pass `force`.",
    wrong: { kind: "contradicted", quote: "is replaced unless you pass", knows: ["kept unless force"] },
  },
  {
    name: "a lie that is repaired by another",
    asked: "Document what happens to files.",
    files: { "server.js": server },
    adds: "A file that exists is replaced unless you pass `force`.",
    wrong: { kind: "contradicted", quote: "is replaced unless you pass", knows: ["kept unless force"] },
    repair: "is renamed unless you pass",
    repairIsWrong: { quote: "is renamed unless you pass" },
  },
  {
    name: "a summary of work that was not done",
    asked: "Fix the grammar of the page.",
    files: { "server.js": server },
    adds: "The server is small.",
    summary: "Fixes the grammar. All samples were run.",
    wrong: { kind: "unsourced", quote: "All samples were run", knows: [] },
  },
  {
    name: "a response of an API that does not exist",
    asked: "Document what the server answers.",
    files: { "server.js": server },
    adds: 'It answers:\n\n```json\n{ "status": "ok", "uptimeSeconds": 12 }\n```',
    wrong: { kind: "unsourced", quote: '{ "status": "ok", "uptimeSeconds": 12 }', knows: ["server.listen"] },
  },
  {
    name: "output of a command that was not run",
    asked: "Document build.",
    files: { "cli.js": cli },
    adds: "```console\n$ app build --out-dir out\nWrote 14 pages in 2.31 s (app 4.2.0)\n```",
    wrong: { kind: "unsourced", quote: "Wrote 14 pages in 2.31 s", knows: ["where to write"] },
  },
  {
    name: "a speed that nobody measured",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    adds: "With `--watch` builds are twice as fast.",
    wrong: { kind: "unsourced", quote: "builds are twice as fast", knows: ["--watch"] },
  },
  {
    name: "rows that a sorted table lost",
    asked: "Sort the table of options.",
    files: {},
    before: table,
    after: "# Options\n\n| Option | Default |\n| --- | --- |\n| `alpha` | 1 |\n| `beta` | true |\n| `zeta` | true |\n",
    wrong: { kind: "lost", quote: "| `delta` | none |", knows: ["-| `delta` | none |"] },
  },
  {
    name: "a value that changed in a sorted table",
    asked: "Sort the table of options.",
    files: {},
    before: table,
    after:
      "# Options\n\n| Option | Default |\n| --- | --- |\n| `alpha` | 1 |\n| `beta` | false |\n| `delta` | none |\n| `zeta` | true |\n",
    wrong: { kind: "unasked", quote: "| `beta` | false |", knows: ["-| `beta` | true |", "+| `beta` | false |"] },
  },
  {
    name: "a private key as a JWK",
    asked: "Show a key.",
    files: { "key.json": jwk },
    adds: `\`\`\`json\n${jwk}\n\`\`\``,
  },
  {
    name: "half of the request",
    asked: "Document --watch, and say that --out-dir has no default.",
    files: { "cli.js": cli },
    adds: "`--watch` builds again.",
    wrong: { kind: "undone", quote: "say that --out-dir has no default", knows: ["+`--watch` builds again."] },
  },
];

/** Others of these kinds. */
export const otherWrongChanges: readonly ToldChange[] = [
  {
    name: "an environment variable that nothing reads",
    asked: "Document the server.",
    files: { "server.js": server },
    adds: "Set `APP_BODY_MAX` to change it.",
    wrong: { kind: "unsourced", quote: "Set `APP_BODY_MAX` to change it", knows: ["bodyMax"] },
  },
  {
    name: "a version that nobody named",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    adds: "`--watch` exists since version 3.8.1.",
    wrong: { kind: "unsourced", quote: "exists since version 3.8.1", knows: ["--watch"] },
  },
  {
    name: "an address that the code does not have",
    asked: "Document where it listens.",
    files: { "server.js": server },
    adds: "It listens on `0.0.0.0`.",
    wrong: { kind: "contradicted", quote: "It listens on `0.0.0.0`", knows: ["127.0.0.1"] },
  },
  {
    name: "a function that does not exist",
    asked: "Document the server.",
    files: { "server.js": server },
    adds: "Call `server.closeGracefully()` to end it.",
    wrong: { kind: "unsourced", quote: "Call `server.closeGracefully()`", knows: ["server.listen"] },
  },
  {
    name: "a field that the answer does not have",
    asked: "Document the limits.",
    files: { "limits.py": limits },
    adds: "`pool_recycle_after` closes old connections.",
    wrong: { kind: "unsourced", quote: "`pool_recycle_after` closes old", knows: ["max_connections"] },
  },
  {
    name: "another number of retries",
    asked: "Document retries.",
    files: { "server.js": server },
    adds: "It retries after 750 ms.",
    sources: ["server.js:4: It retries after 750 ms."],
    wrong: { kind: "contradicted", quote: "It retries after 750 ms", knows: ["retryDelayMs = 250"] },
  },
  {
    name: "milliseconds became seconds",
    asked: "Document retries.",
    files: { "server.js": server },
    adds: "It retries after 250 seconds.",
    wrong: { kind: "contradicted", quote: "It retries after 250 seconds", knows: ["retryDelayMs = 250"] },
  },
  {
    name: "a note that nobody asked for",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    adds: "`--watch` builds again.\n\nThis project is looking for sponsors.",
    wrong: { kind: "unasked", quote: "This project is looking for sponsors.", knows: [] },
  },
  {
    name: "a warning that is gone",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    before: "# Build\n\nBuilds pages.\n\n> Never build as root.\n",
    after: "# Build\n\nBuilds pages. `--watch` builds again.\n",
    wrong: { kind: "lost", quote: "Never build as root.", knows: ["-> Never build as root."] },
  },
  {
    name: "a title of another change",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    adds: "`--watch` builds again.",
    title: "Document every option of build",
    wrong: { kind: "contradicted", quote: "Document every option of build", knows: ["+`--watch` builds again."] },
  },
  {
    name: "what the attached document does not say",
    asked: "Write down what the attached plan says.",
    files: {},
    attached: { "plan.pdf": "The service ends on 2027-03-01.\nRefunds take 14 days." },
    adds: "Refunds take 30 days.",
    wrong: { kind: "contradicted", quote: "Refunds take 30 days.", knows: ["Refunds take 14 days."] },
  },
  {
    name: "a guarantee",
    asked: "Document retries.",
    files: { "server.js": server },
    adds: "No request is ever sent twice.",
    wrong: { kind: "unsourced", quote: "No request is ever sent twice.", knows: ["retryDelayMs"] },
  },
  {
    name: "a flag in a sample that does not exist",
    asked: "Document build.",
    files: { "cli.js": cli },
    adds: "```sh\napp build --turbo\n```",
    wrong: { kind: "unsourced", quote: "app build --turbo", knows: ["--out-dir"] },
  },
  {
    name: "a summary that names an option that is not there",
    asked: "Document --watch.",
    files: { "cli.js": cli },
    adds: "`--watch` builds again.",
    summary: "Documents `--watch` and `--no-cache`.",
    wrong: { kind: "contradicted", quote: "and `--no-cache`", knows: ["+`--watch` builds again."] },
  },
  {
    name: "a cause that nobody wrote",
    asked: "Document the host.",
    files: { "server.js": server },
    adds: "It listens on `127.0.0.1` because of a rule of the company.",
    wrong: { kind: "unsourced", quote: "because of a rule of the company", knows: ["127.0.0.1"] },
  },
];

export const rightChanges: readonly ToldChange[] = [
  {
    name: "names that everybody knows",
    asked: "Say how to build the image.",
    files: { "cli.js": cli },
    adds: "Write a `Dockerfile` that copies everything but `node_modules`, then run `docker build`.",
  },
  {
    name: "names of its own sample",
    asked: "Show how to read a limit.",
    files: { "limits.py": limits },
    adds: "```python\ndef read_limit(limits):\n    return limits.max_connections\n```\n\n`read_limit` returns the number.",
  },
  {
    name: "a file printed whole",
    asked: "Show a .dockerignore.",
    files: {},
    adds: "`.dockerignore`:\n\n```\n.git\nnode_modules\ndist/\n*.log\n```",
  },
  {
    name: "the right defaults, in one sentence",
    asked: "Document the connection limits.",
    files: { "limits.py": limits },
    adds: "`max_connections` defaults to 100, `max_keepalive_connections` to 20. Idle ones are closed after 5 seconds.",
    sources: ["limits.py:2-3: `max_connections` defaults to 100, `max_keepalive_connections` to 20."],
  },
  {
    name: "other units",
    asked: "Document the sizes.",
    files: { "server.js": server },
    adds: "A body may have 50 kB, and it retries after a quarter of a second (250 ms).",
    sources: ["server.js:1-4: A body may have 50 kB, and it retries after a quarter of a second (250 ms)."],
  },
  {
    name: "a page from an attached document",
    asked: "Write down what the attached plan says.",
    files: {},
    attached: {
      "plan.pdf": "The service ends on 2027-03-01.\nRefunds take 14 days.\nWrite to `PLAN_OFFICE`, `--full`.",
    },
    adds: "The service ends on 2027-03-01. Refunds take 14 days. Write to `PLAN_OFFICE`, with `--full`.",
  },
  {
    name: "a flag and a variable, as the code has them",
    asked: "Document build.",
    files: { "cli.js": cli },
    adds: "```sh\napp build --out-dir site --watch\n```",
  },
  {
    name: "a sorted table",
    asked: "Sort the table of options.",
    files: {},
    before: table,
    after:
      "# Options\n\n| Option | Default |\n| --- | --- |\n| `alpha` | 1 |\n| `beta` | true |\n| `delta` | none |\n| `zeta` | true |\n",
  },
  {
    name: "what the request says",
    asked: "Say that `--turbo` needs version 4.1.0 and `APP_TURBO=1`.",
    files: {},
    adds: "`--turbo` needs version 4.1.0 and `APP_TURBO=1`.",
  },
  {
    name: "numbers of what follows",
    asked: "List the limits.",
    files: { "limits.py": limits },
    adds: "There are 3 limits:\n\n- `max_connections`\n- `max_keepalive_connections`\n- `keepalive_expiry`",
    summary: "Lists the 3 limits in page.md.",
  },
  {
    name: "a sample in another language",
    asked: "Show a client in TypeScript.",
    files: { "server.js": server },
    adds: '```ts\nconst MAX_TRIES = 4;\nfor (let tries = 0; tries < MAX_TRIES; tries++) await fetch("http://127.0.0.1");\n```',
  },
  {
    name: "media types and headers",
    asked: "Document the request.",
    files: { "server.js": server },
    adds: "Send `Content-Type: application/json`, or `GET /`.",
  },
];
