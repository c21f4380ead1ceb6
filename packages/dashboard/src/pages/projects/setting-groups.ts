// Longer than other files: it is one form, as data, and a setting is found by reading it through.
import type { DashboardProject } from "@emend/contract";
import type { Setting } from "./setting.ts";

/** Related settings: each inner list is a row. */
export interface SettingGroup {
  title: string;
  words?: string;
  rows: readonly (readonly Setting[])[];
}

export function generalGroups(project: DashboardProject): readonly SettingGroup[] {
  return [
    {
      title: "Repository",
      rows: [
        [{ path: "name", label: "Name", kind: "text" }],
        [
          {
            path: "baseRef",
            label: "Base branch",
            kind: "optional",
            placeholder: "the default branch",
            isCode: true,
            help: "Jobs start from this branch, and their pull requests go back to it.",
          },
          {
            path: "docsDir",
            label: "Docs folder",
            kind: "text",
            placeholder: "the whole repository",
            isCode: true,
          },
        ],
        ...(project.forge === "local"
          ? []
          : [
              [
                {
                  path: "settings.forge.apiUrl",
                  label: "Forge API URL",
                  kind: "optional",
                  isCode: true,
                  placeholder: "derived from the repository URL",
                } as const,
              ],
            ]),
      ],
    },
    {
      title: "More models",
      rows: [
        [
          { path: "settings.models", label: "Other models that jobs can choose", kind: "lines", help: "One per line." },
          {
            path: "settings.fallbackModels",
            label: "Fallback models",
            kind: "optionalLines",
            help: "Used in this order while the project's model does not answer. One per line; empty for the installation default.",
          },
        ],
        [
          {
            path: "settings.secondReader",
            label: "Second reader",
            kind: "check",
            help: "A fresh request to a model compares each change with the prompt and the cited lines.",
          },
          {
            path: "settings.secondReaderModel",
            label: "Second reader's model",
            kind: "optional",
            isCode: true,
            placeholder: "the job's model",
          },
        ],
        [
          {
            path: "settings.driftReader",
            label: "Read code changes with a model",
            kind: "check",
            help: "A model compares each change of code with the docs, and confirms what the checks find.",
          },
          {
            path: "settings.driftReaderModel",
            label: "Model for code changes",
            kind: "optional",
            isCode: true,
            placeholder: "the project's model",
          },
        ],
      ],
    },
    {
      title: "Budget",
      rows: [
        [
          { path: "settings.createsPerHourMax", label: "Jobs per hour", kind: "number", min: 0 },
          { path: "settings.lanes", label: "Concurrent jobs", kind: "number", min: 1 },
        ],
        [
          { path: "settings.limits.costUsdMax", label: "Dollars per job", kind: "number", min: 0, step: "any" },
          {
            path: "settings.limits.wallTimeMsMax",
            label: "Minutes per job",
            kind: "number",
            scale: 60_000,
            min: 0,
            step: "any",
          },
        ],
        [
          {
            path: "settings.monthlyBudget.costUsdMax",
            label: "Dollars per month",
            kind: "optionalNumber",
            min: 0,
            step: "any",
            placeholder: "no limit",
            help: "Running jobs stop, and new jobs are refused, when it is used up. Emend warns at 80 %, here and by webhook.",
          },
          {
            path: "settings.monthlyBudget.jobsMax",
            label: "Jobs per month",
            kind: "optionalNumber",
            min: 0,
            placeholder: "no limit",
          },
        ],
        [
          { path: "settings.limits.stepsMax", label: "Steps per job", kind: "number", min: 1 },
          { path: "settings.limits.tokensMax", label: "Tokens per job", kind: "number", min: 1 },
        ],
      ],
    },
  ];
}

export function policyGroups(project: DashboardProject): readonly SettingGroup[] {
  return [
    {
      title: "What a job may change",
      words:
        "Documents and assets in the docs folder, and a site's navigation and redirects. Other files and code need an allowed path.",
      rows: [
        [
          {
            path: "settings.policy.allowedPaths",
            label: "Allowed paths",
            kind: "lines",
            placeholder: ".github/pull_request_template.md",
            help: "Patterns, one per line. Matching files may change in any way, code included.",
          },
        ],
        [
          {
            path: "settings.policy.externalHosts",
            label: "Allowed new external domains",
            kind: "lines",
            placeholder: "*.example.com",
            help: "Domains, one per line; * for any. Domains that your pages or the request already link to are always allowed.",
          },
        ],
        [
          {
            path: "settings.policy.unknown",
            label: "If a change has what no page of the site has",
            kind: "select",
            options: [
              { value: "ask", words: "Ask a person before anything is published" },
              { value: "draft", words: "Open a draft that lists it" },
              { value: "refuse", words: "Fail the job" },
            ],
          },
          {
            path: "settings.approvalWaitHours",
            label: "Hours to wait for approval",
            kind: "number",
            min: 0,
            step: "any",
            help: "Then the job fails. Its change is kept, and can still be approved.",
          },
        ],
        [
          { path: "settings.policy.filesMax", label: "Files per job", kind: "number", min: 1 },
          {
            path: "settings.policy.bytesMax",
            label: "Megabytes per job",
            kind: "number",
            scale: 1_048_576,
            min: 0,
            step: "any",
          },
        ],
      ],
    },
    {
      title: "Pull requests",
      rows: [
        [
          {
            path: "settings.branchPrefix",
            label: "Branch prefix",
            kind: "text",
            isCode: true,
            help: "A slash and the job's ID follow it.",
          },
        ],
        ...(project.forge === "local"
          ? [
              [
                {
                  path: "settings.forge.reviewers",
                  label: "Reviewers",
                  kind: "lines",
                  help: "Email addresses of members, one per line. Each pull request waits in their inbox.",
                } as const,
                {
                  path: "settings.approvalsMin",
                  label: "Approvals before a merge",
                  kind: "number",
                  min: 0,
                  help: "Of the newest commit. A request for changes blocks the merge, too. 0: approvals are optional.",
                } as const,
              ],
            ]
          : [
              [
                ...(project.forge === "bitbucket"
                  ? []
                  : [
                      { path: "settings.forge.labels", label: "Labels", kind: "lines", help: "One per line." } as const,
                    ]),
                {
                  path: "settings.forge.reviewers",
                  label: "Reviewers",
                  kind: "lines",
                  help:
                    (
                      {
                        bitbucket: "One per line: account ID, or UUID in braces.",
                        "azure-devops": "One per line: email address, or identity ID.",
                      } as Readonly<Partial<Record<typeof project.forge, string>>>
                    )[project.forge] ?? "One per line.",
                } as const,
              ],
            ]),
        ...(project.forge === "github" || project.forge === "gitlab"
          ? [
              [
                {
                  path: "settings.forge.codeOwners",
                  label: "Code owners review",
                  kind: "check",
                  help: "Emend requests reviews from the people that CODEOWNERS names for the changed files.",
                } as const,
              ],
            ]
          : []),
        ...(project.forge === "bitbucket"
          ? []
          : [
              [
                {
                  path: "settings.forge.codeAuthors",
                  label: "Request reviews from authors of cited code",
                  kind: "check",
                } as const,
              ],
            ]),
        ...(project.forge === "github"
          ? [[{ path: "settings.forge.teamReviewers", label: "Reviewing teams", kind: "lines" } as const]]
          : []),
        ...(project.forge === "bitbucket"
          ? [
              [
                {
                  path: "settings.forge.removeSourceBranch",
                  label: "Delete the branch when merged",
                  kind: "choice",
                } as const,
              ],
            ]
          : []),
        ...(project.forge === "gitlab"
          ? [
              [
                {
                  path: "settings.forge.squash",
                  label: "Combine all commits into one when merging (squash)",
                  kind: "choice",
                } as const,
                {
                  path: "settings.forge.removeSourceBranch",
                  label: "Delete the branch after merging",
                  kind: "choice",
                } as const,
              ],
            ]
          : []),
        [{ path: "settings.draft", label: "Open as drafts", kind: "check" }],
        [
          {
            path: "settings.closedPullRequest",
            label: "If a pull request is merged or closed during a follow-up",
            kind: "select",
            options: [
              { value: "open_new", words: "Open a new pull request" },
              { value: "fail", words: "Fail the job" },
            ],
          },
        ],
        [
          {
            path: "settings.publishWaitHours",
            label: "Hours to wait for an unavailable forge",
            kind: "number",
            min: 0,
            step: "any",
            help: "Emend keeps finished work and publishes it when the forge answers.",
          },
        ],
        [
          {
            path: "settings.questionsMax",
            label: "Questions per job",
            kind: "number",
            min: 0,
            help: "How often the agent may ask. Automations never ask.",
          },
          {
            path: "settings.answerWaitHours",
            label: "Hours to wait for an answer",
            kind: "number",
            min: 0,
            step: "any",
            help: "Then the agent continues with its best guess and opens a draft.",
          },
        ],
        [
          {
            path: "settings.planPromptsOver",
            label: "Plan first if a prompt has more characters than",
            kind: "number",
            min: 0,
            help: "The agent makes a plan and changes nothing until somebody approves it. 0: only where a job asks for it.",
          },
        ],
      ],
    },
    {
      title: "CI on pull requests",
      words: "Emend reads what CI says about a job's pull request, and repairs what the job's change broke.",
      rows: [
        [
          {
            path: "settings.ciRepairRounds",
            label: "Repair rounds per job",
            kind: "number",
            min: 0,
            help: "0: results of CI are not read.",
          },
        ],
      ],
    },
    {
      title: "Merge without a review",
      words: "Emend merges a job's pull request of these kinds once its checks have passed.",
      rows: [
        [
          {
            path: "settings.autoMerge",
            label: "Kinds of changes",
            kind: "lines",
            help: "One per line: links, typos.",
          },
        ],
      ],
    },
    {
      title: "Reminder",
      words: "Emend reminds once, with a comment, of a job's pull request that has no comments.",
      rows: [
        [
          {
            path: "settings.reviewReminderDays",
            label: "Days until the reminder",
            kind: "number",
            min: 0,
            step: "any",
            help: "0: never.",
          },
        ],
      ],
    },
    {
      title: "Learn from reviews",
      words:
        "Emend reads what reviewers change, refuse and write, and suggests a line for .emend/instructions.md, as a pull request of its own.",
      rows: [[{ path: "settings.suggestRules", label: "Suggest rules", kind: "check" }]],
    },
    {
      title: "Checks on pull requests",
      words:
        "Emend marks each pull request of people and of jobs as passed or failed, beside the forge's other checks. The token needs the permission to set statuses.",
      rows: [
        [
          { path: "settings.gate.docs", label: "In the docs repository", kind: "level" },
          { path: "settings.gate.sources", label: "In the repositories of code", kind: "level" },
        ],
        [
          {
            path: "settings.gate.name",
            label: "Name of the check",
            kind: "text",
            isCode: true,
            help: "Two projects that report on the same repository need two names.",
          },
        ],
      ],
    },
    {
      title: "Build",
      words:
        "The site's own builder judges each change, in a sandbox without a network. This runs the code of the base branch, which jobs start from, on the server.",
      rows: [
        [
          {
            path: "settings.build.on",
            label: "Build each change",
            kind: "check",
            help: "A change that the builder refuses becomes a draft.",
          },
        ],
        [
          {
            path: "settings.build.command",
            label: "Build command",
            kind: "optional",
            isCode: true,
            placeholder: "the framework's builder",
            help: "Runs at the top of the repository.",
          },
          {
            path: "settings.build.output",
            label: "Folder of the built site",
            kind: "optional",
            isCode: true,
            placeholder: "no pictures of pages",
            help: "Only for a build command: where it writes the site.",
          },
          {
            path: "settings.build.packages",
            label: "Packages of the lock file",
            kind: "select",
            options: [
              { value: "none", words: "Do not install" },
              { value: "install", words: "Install, without scripts" },
              { value: "install_with_scripts", words: "Install, and run their scripts" },
            ],
          },
        ],
        [
          {
            path: "settings.build.picturesInPullRequests",
            label: "Pictures of pages in pull requests",
            kind: "check",
            help: "The forge loads them from this server, by links that cannot be guessed.",
          },
        ],
        [
          {
            path: "settings.build.samples",
            label: "Samples that run",
            kind: "lines",
            help: "One per line: marked, for samples that a page marks, or every sample in shell, bash, javascript, typescript, python, go or http.",
          },
          {
            path: "settings.build.service",
            label: "Service for samples and screenshots",
            kind: "optional",
            isCode: true,
            placeholder: "none",
            help: "A shell command. It serves what samples of HTTP ask and screenshots show.",
          },
        ],
      ],
    },
    {
      title: "Silenced findings",
      words:
        "Findings that are right and still no problem. They are not reported on the health page, on pull requests and by jobs. A pattern that no longer silences anything is a finding itself.",
      rows: [[{ path: "settings.checks.ignore", label: "Pattern", kind: "silencers" }]],
    },
    ...(["github", "gitlab", "gitea"].includes(project.forge)
      ? [
          {
            title: "Issues",
            words:
              "People with write access start a job with the label emend on an issue, or with a comment that begins with @emend. Emend answers on the issue. This needs the project's webhook.",
            rows: [[{ path: "settings.issueTriggers", label: "Start jobs from issues", kind: "check" } as const]],
          },
        ]
      : []),
    {
      title: "Chat",
      words: "In these channels of Slack or Mattermost, members start a job by mentioning Emend.",
      rows: [
        [
          {
            path: "settings.chatChannels",
            label: "Channels",
            kind: "lines",
            placeholder: "slack/C0123456789",
            help: "The chat and the channel's id, one per line.",
          },
        ],
      ],
    },
    {
      title: "Commits",
      rows: [
        [
          { path: "settings.commit.authorName", label: "Author", kind: "text" },
          { path: "settings.commit.authorEmail", label: "Author email", kind: "text", isCode: true },
        ],
        [{ path: "settings.commit.signOff", label: "Sign off (Signed-off-by)", kind: "check" }],
        ...(project.forge === "github"
          ? [
              [
                {
                  path: "settings.forge.verifiedCommits",
                  label: "Let GitHub create and sign commits (GitHub App only)",
                  kind: "check",
                } as const,
              ],
            ]
          : []),
      ],
    },
  ];
}

export const guidanceGroups: readonly SettingGroup[] = [
  {
    title: "Style guides",
    words: "Emend reads AGENTS.md, CLAUDE.md and .emend/instructions.md from the repository automatically.",
    rows: [
      [
        {
          path: "settings.styleGuides",
          label: "More guidance files",
          kind: "lines",
          placeholder: "docs/style-guide.md",
          help: "Paths in the repository, one per line.",
        },
      ],
    ],
  },
];
