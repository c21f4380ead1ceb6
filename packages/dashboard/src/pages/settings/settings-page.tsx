import {
  type DashboardSettings,
  type RetentionName,
  type RetentionSetting,
  retention,
  retentionDaysMax,
  retentionNames,
} from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { settingsQuery } from "../../api/account-queries.ts";
import { budgetsQuery, sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { Confirm, Head, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { AuditLog } from "../audit/audit-log.tsx";
import { Members } from "../members/members.tsx";
import { Account } from "./account.tsx";
import { Directory } from "./directory.tsx";
import { InstallationStatus } from "./installation-status.tsx";

const everybodys = [{ value: "account", words: "Account" }] as const;
const owners = [
  ...everybodys,
  { value: "members", words: "Members" },
  { value: "directory", words: "Directory" },
  { value: "installation", words: "Installation" },
  { value: "status", words: "Status" },
  { value: "audit", words: "Audit log" },
] as const;

/** The person's account; and for owners, members and the audit log. */
export function SettingsPage() {
  const session = useQuery(sessionQuery).data;
  const { tab } = useSearch({ from: "/settings" });
  if (!session) return null;
  const tabs = session.role === "owner" ? owners : everybodys;
  const chosen = tabs.find(({ value }) => value === tab)?.value ?? "account";
  return (
    <>
      <title>{`${tabs.find(({ value }) => value === chosen)?.words} · Emend`}</title>
      <Head title="Settings" />
      {tabs.length > 1 && <Tabs label="Settings" tabs={tabs} chosen={chosen} to="/settings" />}
      {chosen === "account" && <Account session={session} />}
      {chosen === "members" && <Members />}
      {chosen === "directory" && <Directory />}
      {chosen === "installation" && <Installation />}
      {chosen === "status" && <InstallationStatus />}
      {chosen === "audit" && <AuditLog />}
    </>
  );
}

export function Installation() {
  const { data, error } = useQuery(settingsQuery);
  if (!data) return <Pending error={error} />;
  return (
    <div className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] gap-6">
      <section className="grid gap-2">
        <h2>Retention</h2>
        <Sheet className="p-4">
          <RetentionForm settings={data.retention} />
        </Sheet>
      </section>
      <section className="grid gap-2">
        <h2>Monthly budget</h2>
        <Sheet className="p-4">
          <Budget setting={data.monthlyBudget} />
        </Sheet>
      </section>
      <section className="grid gap-2">
        <h2>Second factor</h2>
        <Sheet className="p-4">
          <RequireFactor setting={data.secondFactor} />
        </Sheet>
      </section>
      <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <h2>Single sign-on</h2>
        <Sheet className="p-4">
          <SingleSignOn singleSignOn={data.singleSignOn} />
        </Sheet>
      </section>
    </div>
  );
}

const retentionWords: Readonly<Record<RetentionName, { label: string; help: string }>> = {
  archiveAfterDays: {
    label: "Archive finished jobs",
    help: "Archived jobs leave the list and keep their pull requests.",
  },
  deleteAfterDays: {
    label: "Delete ended jobs",
    help: "With their prompts, diffs, steps and events. Jobs with an open pull request stay.",
  },
  deleteContentsAfterDays: {
    label: "Delete what jobs worked with",
    help: "The model's messages, edited files, uploads and pictures of pages. A job that goes on later starts without them.",
  },
  deleteHistoryAfterDays: {
    label: "Delete history",
    help: "Webhook deliveries, runs of automations that made no job, and tasks that were given up.",
  },
  deleteLogsAfterDays: {
    label: "Delete logs",
    help: "Results of commit statuses with their logs, and logins. The rest of the audit log stays.",
  },
  deleteCopiesAfterDays: {
    label: "Delete unused copies of repositories",
    help: "From the disks of workers. The next job fetches the repository again.",
  },
};

type Choice = "environment" | "never" | "after";

function RetentionForm({ settings }: { settings: DashboardSettings["retention"] }) {
  const queries = useQueryClient();
  const [edits, setEdits] = useState<Partial<Record<RetentionName, { choice: Choice; days: string }>>>({});
  const save = useMutation({
    mutationFn: () => {
      const changed = Object.entries(edits).map(([name, { choice, days }]) => [
        name,
        { environment: "environment", never: null, after: Number(days) }[choice],
      ]);
      const body = { retention: Object.fromEntries(changed) };
      return request<DashboardSettings>("/settings", { method: "PATCH", body });
    },
    onSuccess: (stored) => queries.setQueryData(settingsQuery.queryKey, stored),
  });
  return (
    <Form action={save} submit="Save" {...(save.isSuccess && { note: "Saved." })}>
      {retentionNames.map((name) => (
        <RetentionFields
          key={name}
          name={name}
          setting={settings[name]}
          onEdit={(edit) => setEdits((before) => ({ ...before, [name]: edit }))}
        />
      ))}
    </Form>
  );
}

function RetentionFields({
  name,
  setting,
  onEdit,
}: {
  name: RetentionName;
  setting: RetentionSetting;
  onEdit(edit: { choice: Choice; days: string }): void;
}) {
  const { label, help } = retentionWords[name];
  const { least, usual, variable } = retention[name];
  const stored: Choice = setting.source === "environment" ? "environment" : setting.days === null ? "never" : "after";
  const [edit, setEdit] = useState({ choice: stored, days: String(setting.days ?? usual ?? 90) });
  const change = (part: Partial<typeof edit>) => {
    const next = { ...edit, ...part };
    setEdit(next);
    onEdit(next);
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 sm:grid-cols-[minmax(0,1fr)_7rem]">
      <SelectInput
        label={label}
        help={`${help} Overrides ${variable}.`}
        value={edit.choice}
        onValue={(choice) => change({ choice })}
        options={[
          { value: "environment", words: `Default from the environment: ${inWords(setting.environment)}` },
          { value: "never", words: "Never" },
          { value: "after", words: "After a number of days" },
        ]}
      />
      {edit.choice === "after" && (
        <TextInput
          label="Days"
          aria-label={`${label}: days`}
          type="number"
          required
          min={least}
          max={retentionDaysMax}
          step={1}
          value={edit.days}
          onText={(days) => change({ days })}
        />
      )}
    </div>
  );
}

function Budget({ setting }: { setting: DashboardSettings["monthlyBudget"] }) {
  const queries = useQueryClient();
  const [costUsd, setCostUsd] = useState(String(setting.costUsdMax ?? ""));
  const [jobs, setJobs] = useState(String(setting.jobsMax ?? ""));
  const save = useMutation({
    mutationFn: () => {
      const meant = (typed: string) => (typed.trim() === "" ? null : Number(typed));
      const monthlyBudget = { costUsdMax: meant(costUsd), jobsMax: meant(jobs) };
      return request<DashboardSettings>("/settings", { method: "PATCH", body: { monthlyBudget } });
    },
    onSuccess: async (settings) => {
      queries.setQueryData(settingsQuery.queryKey, settings);
      await queries.invalidateQueries({ queryKey: budgetsQuery.queryKey });
    },
  });
  const common = { type: "number", min: 0, placeholder: "no limit" } as const;
  return (
    <Form action={save} submit="Save budget" {...(save.isSuccess && { note: "Saved." })}>
      <TextInput
        label="Dollars for all projects"
        help="For each calendar month (UTC). Emend warns at 80 %, here and by webhook. When it is used up, running jobs stop and new jobs are refused."
        step="any"
        value={costUsd}
        onText={setCostUsd}
        {...common}
      />
      <TextInput label="Jobs for all projects" step={1} value={jobs} onText={setJobs} {...common} />
    </Form>
  );
}

/** A button, not a field to save: turning it on ends sessions. */
function RequireFactor({ setting: { required, membersWithout } }: { setting: DashboardSettings["secondFactor"] }) {
  const queries = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  async function turn() {
    const body = { secondFactorRequired: !required };
    queries.setQueryData(
      settingsQuery.queryKey,
      await request<DashboardSettings>("/settings", { method: "PATCH", body }),
    );
  }
  const without = `${membersWithout} ${membersWithout === 1 ? "member has" : "members have"}`;
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="min-w-0 flex-1 basis-60">
        {required
          ? "Required for logins with a password. After single sign-on, your identity provider decides."
          : "Optional. Members decide for themselves."}
      </p>
      <Button onClick={() => setIsAsking(true)}>{required ? "Make optional" : "Require a second factor"}</Button>
      {isAsking && (
        <Confirm
          title={required ? "Make the second factor optional?" : "Require a second factor?"}
          submit={required ? "Make optional" : "Require"}
          look="primary"
          onConfirm={turn}
          onClose={() => setIsAsking(false)}
        >
          {required ? (
            <p>Members can then remove their last one. Those who have one are still asked for it.</p>
          ) : (
            <p>
              {membersWithout === 0
                ? "All members with a password have one. New members set one up when they join."
                : `${without} a password and no second factor. Their sessions end now, and they set one up with their next login.`}
            </p>
          )}
        </Confirm>
      )}
    </div>
  );
}

function inWords(days: number | null): string {
  if (days === null) return "never";
  return days === 1 ? "after a day" : `after ${days} days`;
}

const example = `EMEND_OIDC_ISSUER=https://id.example.com
EMEND_OIDC_CLIENT_ID=emend
EMEND_OIDC_CLIENT_SECRET_FILE=/run/secrets/oidc
EMEND_OIDC_DOMAINS=example.com
EMEND_OIDC_DEFAULT_ROLE=viewer`;
const samlExample = `EMEND_SAML_METADATA_URL=https://id.example.com/metadata
EMEND_SAML_DOMAINS=example.com
EMEND_SAML_DEFAULT_ROLE=viewer`;

/** Configured only by the operator, so that a form cannot lock out the people who decide about access. */
export function SingleSignOn({ singleSignOn }: Pick<DashboardSettings, "singleSignOn">) {
  if (!singleSignOn) {
    return (
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        <p>Off. Users log in with a password. To use an OpenID Connect provider, set in the environment:</p>
        <CopyBlock text={example} />
        <p>Or a SAML provider:</p>
        <CopyBlock text={samlExample} />
      </div>
    );
  }
  const { name, domains, defaultRole } = singleSignOn;
  const facts: readonly [string, string][] =
    singleSignOn.protocol === "oidc"
      ? [
          ["Issuer", singleSignOn.issuer],
          ["Client", singleSignOn.clientId],
        ]
      : [
          ["SAML provider", singleSignOn.provider],
          ["Emend's entity ID", singleSignOn.entityId],
          ["Emend's ACS URL", singleSignOn.acsUrl],
        ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="flex items-center gap-1.5 font-medium text-good">
        <Icon name="check" /> On
      </p>
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1">
        <dt className="text-quiet">Provider</dt>
        <dd className="wrap-anywhere">{name}</dd>
        {facts.map(([label, value]) => (
          <Fragment key={label}>
            <dt className="text-quiet">{label}</dt>
            <dd className="font-mono text-[13px] wrap-anywhere">{value}</dd>
          </Fragment>
        ))}
        <dt className="text-quiet">Access</dt>
        <dd className="wrap-anywhere">
          {domains.length > 0
            ? `anyone with ${singleSignOn.protocol === "oidc" ? "a verified" : "an"} email address of ${domains.join(", ")}, as ${defaultRole}; members and invited people`
            : "members and invited people"}
        </dd>
      </dl>
    </div>
  );
}
