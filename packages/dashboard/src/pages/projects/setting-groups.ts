import type { DashboardProject } from "@emend/contract";
import type { Setting } from "./setting.ts";

/** Settings that stand together: each inner list is a row. */
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
          { path: "baseRef", label: "Base branch", kind: "optional", placeholder: "the default branch", isCode: true },
          {
            path: "docsDir",
            label: "Folder of the docs",
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
                  label: "Address of the forge's API",
                  kind: "optional",
                  isCode: true,
                  placeholder: "known from the repository's address",
                } as const,
              ],
            ]),
      ],
    },
    {
      title: "Model",
      rows: [
        [
          {
            path: "settings.model",
            label: "Model",
            kind: "optional",
            isCode: true,
            placeholder: project.settings.model === null ? (project.models[0] ?? "") : "the installation's",
            help: "Such as emend/rules, anthropic/…, openai/…, google/…, compatible/…",
          },
        ],
        [
          { path: "settings.models", label: "Others that a job may choose", kind: "lines", help: "One a line." },
          {
            path: "settings.fallbackModels",
            label: "Asked while it is away",
            kind: "optionalLines",
            help: "One a line, in order. Empty: the installation's.",
          },
        ],
        [{ path: "settings.selfReview", label: "A model looks at its finished change once more", kind: "check" }],
      ],
    },
    {
      title: "Budget",
      rows: [
        [
          { path: "settings.createsPerHourMax", label: "Jobs an hour", kind: "number", min: 0 },
          { path: "settings.lanes", label: "Jobs at the same time", kind: "number", min: 1 },
        ],
        [
          { path: "settings.limits.costUsdMax", label: "Dollars a job", kind: "number", min: 0, step: "any" },
          {
            path: "settings.limits.wallTimeMsMax",
            label: "Minutes a job",
            kind: "number",
            scale: 60_000,
            min: 0,
            step: "any",
          },
        ],
        [
          { path: "settings.limits.stepsMax", label: "Steps a job", kind: "number", min: 1 },
          { path: "settings.limits.tokensMax", label: "Tokens a job", kind: "number", min: 1 },
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
            path: "settings.policy.codeAsDraft",
            label: "Open a draft instead of refusing changes to other files or code",
            kind: "check",
          },
        ],
        [
          { path: "settings.policy.filesMax", label: "Files a job", kind: "number", min: 1 },
          {
            path: "settings.policy.bytesMax",
            label: "Megabytes a job",
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
            label: "Branches begin with",
            kind: "text",
            isCode: true,
            help: "Followed by a slash and the job's id.",
          },
        ],
        ...(project.forge === "local"
          ? []
          : [
              [
                ...(project.forge === "bitbucket"
                  ? []
                  : [{ path: "settings.forge.labels", label: "Labels", kind: "lines", help: "One a line." } as const]),
                {
                  path: "settings.forge.reviewers",
                  label: "Reviewers",
                  kind: "lines",
                  help: project.forge === "bitbucket" ? "One a line: account ID, or UUID in braces." : "One a line.",
                } as const,
              ],
            ]),
        ...(project.forge === "github"
          ? [[{ path: "settings.forge.teamReviewers", label: "Teams that review", kind: "lines" } as const]]
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
                { path: "settings.forge.squash", label: "Squash when merged", kind: "choice" } as const,
                { path: "settings.forge.removeSourceBranch", label: "Remove the branch then", kind: "choice" } as const,
              ],
            ]
          : []),
        [{ path: "settings.draft", label: "Open them as drafts", kind: "check" }],
        [
          {
            path: "settings.publishWaitHours",
            label: "Hours to wait for a forge that is away",
            kind: "number",
            min: 0,
            step: "any",
            help: "Finished work is kept and published once the forge answers.",
          },
        ],
      ],
    },
    {
      title: "Commits",
      rows: [
        [
          { path: "settings.commit.authorName", label: "Author", kind: "text" },
          { path: "settings.commit.authorEmail", label: "Author's address", kind: "text", isCode: true },
        ],
        [{ path: "settings.commit.signOff", label: "Sign off (Signed-off-by)", kind: "check" }],
        ...(project.forge === "github"
          ? [
              [
                {
                  path: "settings.forge.verifiedCommits",
                  label: "GitHub makes and signs them (for a GitHub App)",
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
    words:
      "A model reads AGENTS.md, CLAUDE.md and .emend/instructions.md of the repository by itself, as advice on content.",
    rows: [
      [
        {
          path: "settings.styleGuides",
          label: "Further files to follow",
          kind: "lines",
          placeholder: "docs/style-guide.md",
          help: "Paths in the repository, one a line.",
        },
      ],
    ],
  },
];
