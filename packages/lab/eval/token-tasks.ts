import type { TokenTask } from "./task.ts";
import { cli, contextTasks } from "./token-context-tasks.ts";

const header = (path: string, oldText: string, indent: string) =>
  ["edit_file", { path, edits: [{ oldText, newText: `${oldText}${indent}-H "X-Client: docs" \\\n` }] }] as const;

/** The tasks whose tokens are counted, on the public documentation of Mintlify. */
export const tokenTasks: readonly TokenTask[] = [
  {
    context: cli,
    rounds: [
      {
        name: "rename a product term in 25 pages, not in code or translations",
        prompt:
          'Rename the product term "AI assistant" to "docs assistant" everywhere in the English docs (not es, fr, zh), but not in code.',
        before: { turns: 7, tokens: 99_395 },
        shell: { turns: 3, tokens: 12_357 },
        changed: 25,
        holds: [
          ["editor/configurations.mdx", "docs assistant"],
          ["es/deploy/self-host.mdx", "AI assistant"],
        ],
        lacks: [["editor/configurations.mdx", "AI assistant"]],
        turns: [
          [["search", { pattern: "AI assistant", filesOnly: true }]],
          [["replace_term", { from: "AI assistant", to: "docs assistant" }]],
          [
            [
              "finish",
              {
                title: "docs: rename AI assistant to docs assistant",
                summary: "Replaced the term in the prose of the English pages. Code and translations were left alone.",
              },
            ],
          ],
        ],
      },
    ],
  },
  {
    context: cli,
    rounds: [
      {
        name: "split a page of 17 kB",
        prompt:
          "Split the CI checks page: move everything about Vale to a page of its own, deploy/vale, in the same navigation group.",
        before: { turns: 6, tokens: 47_231 },
        shell: { turns: 3, tokens: 16_419 },
        changed: 4,
        holds: [
          ["deploy/vale.mdx", "# Configuration"],
          ["deploy/ci.mdx", "See [Vale](/deploy/vale)."],
          ["docs.json", '"deploy/vale"'],
          ["changelog.mdx", "(/deploy/vale#configuration)"],
        ],
        lacks: [["deploy/ci.mdx", "Vocab"]],
        turns: [
          [
            ["read_file", { paths: ["deploy/ci:1-50"] }],
            ["search", { pattern: "deploy/ci" }],
          ],
          [
            ["move_section", { page: "deploy/ci", heading: "Vale", to: "deploy/vale" }],
            [
              "edit_file",
              {
                path: "deploy/ci.mdx",
                edits: [
                  {
                    oldText: "The results list any files with broken links found in the pull request.\n",
                    newText:
                      "The results list any files with broken links found in the pull request.\n\n### Vale\n\nSee [Vale](/deploy/vale).\n",
                  },
                ],
              },
            ],
            [
              "edit_file",
              {
                path: "changelog.mdx",
                edits: [
                  {
                    oldText: "[Vale configuration](/deploy/ci#configuration)",
                    newText: "[Vale configuration](/deploy/vale#configuration)",
                  },
                ],
              },
            ],
          ],
          [
            [
              "finish",
              {
                title: "docs: move Vale to its own page",
                summary: "Moved the Vale section of the CI checks page to deploy/vale.",
              },
            ],
          ],
        ],
      },
    ],
  },
  {
    context: cli,
    rounds: [
      {
        name: "shorten the quickstart into two pages",
        prompt:
          "Shorten the quickstart: move the part about the first change to a page first-change that the quickstart leads to.",
        before: { turns: 6, tokens: 84_762 },
        shell: { turns: 3, tokens: 19_339 },
        changed: 3,
        holds: [
          ["quickstart.mdx", "Then [make your first change](/first-change)."],
          ["docs.json", '"first-change"'],
        ],
        lacks: [["quickstart.mdx", "## Make your first change"]],
        turns: [
          [["read_file", { paths: ["quickstart:50-102"] }]],
          [
            ["move_section", { page: "quickstart", heading: "Make your first change", to: "first-change" }],
            [
              "edit_file",
              {
                path: "quickstart.mdx",
                edits: [
                  {
                    oldText: "## Next steps\n",
                    newText: "## Next steps\n\nThen [make your first change](/first-change).\n",
                  },
                ],
              },
            ],
          ],
          [
            [
              "finish",
              { title: "docs: shorten the quickstart", summary: "Moved the first change to a page of its own." },
            ],
          ],
        ],
      },
    ],
  },
  ...contextTasks,
  {
    context: cli,
    rounds: [
      {
        name: "add a header to the seven curl samples below `api/`",
        prompt: "Add the header X-Client: docs to every curl sample of the pages below api/.",
        before: { turns: 6, tokens: 40_694 },
        shell: { turns: 3, tokens: 9_887 },
        changed: 5,
        holds: [["api/static-export/overview.mdx", '/bundle \\\n            -H "X-Client: docs" \\\n']],
        turns: [
          [["search", { pattern: "curl ", include: "api", context: 2 }]],
          [
            header("api/agent/v2/create-agent-job.mdx", "/job \\\n", "  "),
            header("api/agent/v2/send-message.mdx", "/message \\\n", "  "),
            header("api/automations/trigger.mdx", '/trigger" \\\n', "            "),
            header("api/search-index/introduction.mdx", '/context" \\\n', "      "),
            header("api/static-export/overview.mdx", "/v1/static-export/jobs \\\n", "            "),
            header("api/static-export/overview.mdx", "job_id }} \\\n", "              "),
            header("api/static-export/overview.mdx", "/bundle \\\n", "            "),
          ],
          [
            [
              "finish",
              {
                title: "docs: send X-Client in the API's curl samples",
                summary: "Added the header to the seven curl samples below api/.",
              },
            ],
          ],
        ],
      },
    ],
  },
];
