/** A model's recorded answers to a task: calls by name and input, one list per turn. */
interface Recording {
  task: string;
  turns: ReadonlyArray<ReadonlyArray<readonly [tool: string, input: unknown]>>;
}

/**
 * A strong model's runs on the small sites. They replay without a model, so a change to a tool that costs tokens or
 * breaks a workflow shows in `recorded-figures.json`.
 */
export const recordings: readonly Recording[] = [
  {
    task: "mkdocs: a section becomes a page",
    turns: [
      [["read_file", { paths: ["reference/options", "mkdocs.yml"] }]],
      [["move_section", { page: "reference/options", heading: "Listening", to: "reference/listening" }]],
      [
        ["read_file", { paths: ["reference/listening", "mkdocs.yml"] }],
        ["git", { command: "diff" }],
      ],
      [["update_navigation", { page: "reference/listening", after: "reference/options" }]],
      [
        [
          "finish",
          {
            title: "Give Listening a page of its own",
            summary:
              "Moved the section Listening of the options page to reference/listening and listed it after Options.",
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: another default",
    turns: [
      [["search", { pattern: "8080" }]],
      [["edit_file", { path: "docs/**/*.md", edits: [{ oldText: "8080", newText: "9090", replaceAll: true }] }]],
      [
        [
          "finish",
          {
            title: "Update the default port to 9090",
            summary: "The options page and the samples that start Relay on the default port now show 9090.",
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: groups in German",
    turns: [
      [
        ["update_navigation", { rename: "Anleitungen", group: "Guides" }],
        ["update_navigation", { rename: "Referenz", group: "Reference" }],
      ],
      [
        [
          "finish",
          {
            title: "Translate the navigation into German",
            summary: "The groups are called Anleitungen and Referenz. No page was changed.",
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: another order",
    turns: [
      [["update_navigation", { page: "guides/retries", after: "guides/quickstart" }]],
      [
        [
          "finish",
          { title: "List retries after the quickstart", summary: "Only the order of the group Guides is changed." },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: a function on a new page",
    turns: [
      [
        ["search", { pattern: "sendMessage", context: 6 }],
        ["read_file", { paths: ["reference/errors"] }],
      ],
      [
        [
          "write_file",
          {
            path: "reference/send-message",
            group: "Reference",
            content:
              "# sendMessage\n\n`sendMessage` sends a message to a channel and resolves to a receipt.\n\n- `channel`: the channel to send to.\n- `text`: the text of the message.\n- `attempts`: how many times Relay tries. The default is 3.\n",
          },
        ],
      ],
      [
        [
          "finish",
          {
            title: "Document sendMessage",
            summary: "Added reference/send-message with the parameters of sendMessage, listed under Reference.",
            sources: ["src/relay.ts:2"],
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: a limit in an existing page",
    turns: [
      [
        ["search", { pattern: "minute", include: "@service" }],
        ["read_file", { paths: ["reference/options"] }],
      ],
      [
        [
          "edit_file",
          {
            path: "docs/reference/options.md",
            edits: [
              {
                oldText: "It needs an API token with the log scope. See [tokens](../guides/tokens.md).\n",
                newText:
                  "It needs an API token with the log scope. See [tokens](../guides/tokens.md).\n\n## Limits\n\nA channel may send 42 messages in a minute. Further messages wait.\n",
              },
            ],
          },
        ],
      ],
      [
        [
          "finish",
          {
            title: "Document the limit of a channel",
            summary: "The options page says how many messages a channel may send in a minute: 42.",
            sources: ["@service/src/quota.ts:4"],
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: a function, then its error",
    turns: [
      [["read_file", { paths: ["guides/retries", "src/relay.ts:1-5"] }]],
      [
        [
          "edit_file",
          {
            path: "docs/guides/retries.md",
            edits: [
              {
                oldText: "if a service answers 401.\n",
                newText:
                  "if a service answers 401.\n\n## Sending\n\n`sendMessage` takes these parameters:\n\n- `channel`: the channel to send to.\n- `text`: the text of the message.\n- `attempts`: how many times it tries. The default is 3.\n",
              },
            ],
          },
        ],
      ],
      [
        [
          "finish",
          {
            title: "Document sendMessage in the retries guide",
            summary: "The section Sending lists the parameters of sendMessage with their default.",
            sources: ["src/relay.ts:2"],
          },
        ],
      ],
      [
        [
          "edit_file",
          {
            path: "docs/guides/retries.md",
            edits: [
              {
                oldText: "`sendMessage` takes these parameters:",
                newText: "`sendMessage` resolves to a `Receipt`. It takes these parameters:",
              },
            ],
          },
        ],
      ],
      [
        [
          "finish",
          {
            summary: "The section Sending lists the parameters of sendMessage and says that it resolves to a Receipt.",
            reply: "Said that it resolves to a Receipt.",
            sources: ["src/relay.ts:2"],
          },
        ],
      ],
    ],
  },
  {
    task: "mkdocs: a question that nothing answers",
    turns: [
      [
        ["search", { pattern: "max|size|bytes|limit|large", regex: true, ignoreCase: true }],
        ["list_files", {}],
      ],
      [
        [
          "finish",
          {
            title: "The maximum size is not known",
            summary: "Neither the code nor the docs say how large a message may be, so I added nothing.",
          },
        ],
      ],
    ],
  },
];
