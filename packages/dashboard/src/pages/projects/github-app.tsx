import type { DashboardGithubApp, DashboardNewApp } from "@emend/contract";
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { request } from "../../api/request.ts";
import { appPath } from "../../base-path.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Dialog, Head, Sheet } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";

const appsQuery = queryOptions({
  queryKey: ["github-apps"],
  queryFn: ({ signal }) => request<{ apps: readonly DashboardGithubApp[] }>("/github-apps", { signal }),
  select: (answer) => answer.apps,
});

/** For owners who add a project on GitHub: starts a new App, or goes on with one that no project uses yet. */
export function GithubAppChoice({ onNew }: { onNew(): void }) {
  const queries = useQueryClient();
  const apps = useQuery(appsQuery).data ?? [];
  const discard = useMutation({
    mutationFn: (id: string) => request(`/github-apps/${id}/remove`, { body: {} }),
    onSuccess: () => queries.invalidateQueries(appsQuery),
  });
  return (
    <div className="grid gap-3 rounded-md bg-hush p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0 flex-1 basis-72">
          <strong>Recommended: a GitHub App.</strong> It opens pull requests as a bot, and its access does not expire.
        </p>
        <Button onClick={onNew}>Create GitHub App</Button>
      </div>
      {apps.map((app) => (
        <div key={app.id} className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-3">
          <p className="min-w-0 flex-1 basis-60">
            <span className="font-medium">{app.name}</span> was created on {new URL(app.origin).host}. No project uses
            it yet.
          </p>
          <div className="flex flex-wrap gap-2">
            <Link to="/projects/new" search={{ from: app.id }} className={buttonLook("ordinary")}>
              Use it
            </Link>
            <Button look="plain" disabled={discard.isPending} onClick={() => discard.mutate(app.id)}>
              Discard
            </Button>
          </div>
        </div>
      ))}
      <Problem error={discard.error} />
    </div>
  );
}

/** Asks where the App is to be created. Rendered outside of other forms. */
export function NewGithubApp({ onClose }: { onClose(): void }) {
  const [organization, setOrganization] = useState("");
  const [host, setHost] = useState("https://github.com");
  const begin = useMutation({
    mutationFn: () => {
      const body = { host: host.trim(), ...(organization.trim() && { organization: organization.trim() }) };
      return request<{ id: string }>("/github-apps", { body });
    },
    // A new document: only that page may post a form to GitHub.
    onSuccess: ({ id }) => location.assign(`${appPath}/github-app?app=${id}`),
  });
  return (
    <Dialog title="Create a GitHub App" onClose={onClose}>
      <Form action={begin} submit="Continue" onCancel={onClose}>
        <TextInput
          label="Organization"
          help="The organization that owns the repository. Leave it empty for your own account."
          pattern="[0-9A-Za-z_\-]{1,100}"
          isCode
          value={organization}
          onText={setOrganization}
        />
        <TextInput label="GitHub server" type="url" required isCode value={host} onText={setHost} />
      </Form>
    </Dialog>
  );
}

/** The way to GitHub and back. The browser posts the manifest, and returns with a code. */
export function GithubAppPage() {
  const { app, code, state } = useSearch({ from: "/github-app" });
  return (
    <div className="mx-auto max-w-[640px]">
      <title>Create a GitHub App · Emend</title>
      <Head title="Create a GitHub App" />
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
        {code && state ? <Created code={code} state={state} /> : <Manifest app={app ?? ""} />}
      </Sheet>
    </div>
  );
}

/** GitHub's words for its permissions. */
const permissionWords: Readonly<Record<string, string>> = {
  contents: "Contents",
  pull_requests: "Pull requests",
  statuses: "Commit statuses",
  issues: "Issues",
  metadata: "Metadata",
  checks: "Checks",
  actions: "Actions",
};

function Manifest({ app }: { app: string }) {
  const form = useQuery({
    queryKey: ["github-app", app],
    queryFn: ({ signal }) => request<DashboardNewApp>(`/github-apps/${app}/manifest`, { body: {}, signal }),
    // Every request replaces the state that GitHub must return.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  if (!form.data) return form.error ? <Again error={form.error} /> : <Pending error={null} rows={4} />;
  const { action, manifest, permissions, hasWebhook } = form.data;
  return (
    <form method="post" action={action} className="grid gap-4">
      <p>
        GitHub shows the App's name and permissions before it creates it. The App is private: only its owner can install
        it. Emend stores its key encrypted.
      </p>
      <ul className="grid gap-1">
        {Object.entries(permissions).map(([name, level]) => (
          <li key={name}>
            <span className="font-medium">{permissionWords[name] ?? name}</span>:{" "}
            {level === "write" ? "read and write" : level}
          </li>
        ))}
      </ul>
      <p className="text-quiet">
        {hasWebhook
          ? "GitHub sends events to this server, so Emend reacts to comments and merges at once."
          : "GitHub cannot reach this server, so the App has no webhook. Emend looks at its pull requests regularly."}
      </p>
      <input type="hidden" name="manifest" value={manifest} />
      <div className="flex flex-wrap justify-end gap-2">
        <Link to="/projects/new" className={buttonLook("plain")}>
          Cancel
        </Link>
        <button type="submit" className={buttonLook("primary")}>
          Continue on {new URL(action).host}
        </button>
      </div>
    </form>
  );
}

function Created({ code, state }: { code: string; state: string }) {
  const navigate = useNavigate();
  const { mutate, error } = useMutation({
    mutationFn: () => request<{ id: string }>("/github-apps/created", { body: { code, state } }),
    // Replaces the entry with the code, which is used up.
    onSuccess: ({ id }) => navigate({ to: "/projects/new", search: { from: id }, replace: true }),
  });
  // The code works once, and effects may run twice.
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    mutate();
  }, [mutate]);
  if (error) return <Again error={error} />;
  return <p role="status">GitHub created the App. Emend stores its key …</p>;
}

function Again({ error }: { error: unknown }) {
  return (
    <>
      <Problem error={error} />
      <Link to="/projects/new" className={`justify-self-start ${buttonLook("ordinary")}`}>
        Back to Add project
      </Link>
    </>
  );
}
