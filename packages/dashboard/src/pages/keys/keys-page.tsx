import type { DashboardKey } from "@emend/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { projectsQuery, useProjectChoices, useProjects } from "../../api/projects.tsx";
import { keysQuery, sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button, CommandLine, CopyButton } from "../../parts/button.tsx";
import { addProjectLine, createKeyLine } from "../../parts/commands.ts";
import { Confirm, Head, Sheet } from "../../parts/dialog.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { CreateKey } from "./create-key.tsx";
import { isLive } from "./is-live.ts";
import { NewKey, type ShownKey } from "./new-key.tsx";

type Open =
  | { kind: "create"; like: DashboardKey | null }
  /** `before`: the list stays as it was until the dialog is closed, so that it moves by a click. */
  | { kind: "created"; key: ShownKey; before: readonly DashboardKey[] }
  | { kind: "revoke"; key: DashboardKey };

export function KeysPage() {
  const session = useQuery(sessionQuery);
  const keys = useQuery(keysQuery);
  const projects = useQuery(projectsQuery);
  const choices = useProjectChoices([]);
  const { found } = useProjects(keys.data?.flatMap(({ projectIds }) => projectIds) ?? []);
  const mayWrite = useMayWrite();
  const [open, setOpen] = useState<Open | null>(null);
  if (!keys.data || !projects.data) return <Pending error={keys.error ?? projects.error} />;
  const close = () => setOpen(null);
  const all = open?.kind === "created" ? open.before : keys.data;
  const live = all.filter(isLive);
  const over = all.filter((key) => !isLive(key));
  const rows = (list: readonly DashboardKey[]) =>
    list.map((key) => (
      <KeyRow
        key={key.id}
        apiKey={key}
        projects={key.projectIds.map((id) => found.get(id)?.name ?? id)}
        {...((mayWrite || key.isMine) &&
          isLive(key) && {
            // A connected program renews its own access.
            ...(key.clientId === null && { onRotate: () => setOpen({ kind: "create", like: key }) }),
            onRevoke: () => setOpen({ kind: "revoke", key }),
          })}
      />
    ));

  return (
    <>
      <title>API keys · Emend</title>
      <Head title="API keys">
        {mayWrite && (
          <Button
            look="primary"
            disabled={projects.data.length === 0}
            onClick={() => setOpen({ kind: "create", like: null })}
          >
            Create key
          </Button>
        )}
      </Head>
      {session.data?.cell && (
        <p className="pb-5 text-quiet">
          These projects and keys are in cell <code>{session.data.cell}</code>. Another cell answers a key of this one
          with 401.
        </p>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2>Project ids</h2>
          {choices.search}
          <Sheet>
            {projects.data.length === 0 && (
              <Empty>
                <p>A key belongs to a project. Add a project first.</p>
                <CommandLine text={addProjectLine} />
              </Empty>
            )}
            <ul className="divide-y divide-line">
              {choices.list.map(({ id, name }) => (
                <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2">
                  <span className="min-w-0 flex-1 basis-40 truncate font-medium">
                    <VisibleText text={name} />
                  </span>
                  <code className="wrap-anywhere">{id}</code>
                  <CopyButton text={id} label="Copy id" />
                </li>
              ))}
            </ul>
          </Sheet>
        </section>
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2>Keys</h2>
          <Sheet>
            {live.length === 0 && (
              <Empty>
                <p>No active keys. Create one to call the API.</p>
                <CommandLine text={createKeyLine(projects.data[0]?.id ?? null)} />
              </Empty>
            )}
            <ul className="divide-y divide-line">{rows(live)}</ul>
          </Sheet>
          {over.length > 0 && (
            <details>
              <summary className="py-2 text-quiet">{over.length} revoked or expired</summary>
              <Sheet>
                <ul className="divide-y divide-line">{rows(over)}</ul>
              </Sheet>
            </details>
          )}
        </section>
      </div>
      {open?.kind === "create" && (
        <CreateKey
          first={projects.data[0]}
          like={open.like}
          onClose={close}
          onCreated={(key) => setOpen({ kind: "created", key, before: keys.data })}
        />
      )}
      {open?.kind === "created" && <NewKey shown={open.key} onClose={close} />}
      {open?.kind === "revoke" && <RevokeKey apiKey={open.key} onClose={close} />}
    </>
  );
}

export function RevokeKey({ apiKey, onClose }: { apiKey: DashboardKey; onClose(): void }) {
  const queries = useQueryClient();
  async function revoke() {
    await request(`/keys/${apiKey.id}/revoke`, { body: {} });
    await queries.invalidateQueries({ queryKey: ["keys"] });
  }
  return (
    <Confirm title="Revoke this key?" submit="Revoke key" onConfirm={revoke} onClose={onClose}>
      <p className="wrap-anywhere">
        <b>
          <VisibleText text={apiKey.name} />
        </b>{" "}
        <KeySource apiKey={apiKey} />
        {apiKey.lastUsedAt ? (
          <>
            {" "}
            was used <Age at={apiKey.lastUsedAt} />.
          </>
        ) : (
          " was never used."
        )}
      </p>
      <p>Programs that use it lose access within a second. This can't be undone.</p>
    </Confirm>
  );
}

interface RowProps {
  apiKey: DashboardKey;
  projects: readonly string[];
  /** Absent without permission. */
  onRotate?(): void;
  onRevoke?(): void;
}

/** The key's first characters, or the program that somebody connected. */
function KeySource({ apiKey: { clientId, hint } }: { apiKey: DashboardKey }) {
  if (clientId === null) return <code className="text-quiet">{hint}…</code>;
  return <span className="min-w-0 truncate text-quiet">connected from {new URL(clientId).host}</span>;
}

const scopeTexts = { read: "reads", write: "reads and writes", manage: "reads, writes and changes settings" } as const;

export function KeyRow({ apiKey: key, projects, onRotate, onRevoke }: RowProps) {
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid items-center gap-x-6 gap-y-1 px-4 py-2.5 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_108px_148px_auto]"
    >
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-3">
          <span className="min-w-0 truncate font-medium">
            <VisibleText text={key.name} />
          </span>
          <KeySource apiKey={key} />
          <span className="text-quiet">{scopeTexts[key.scope]}</span>
        </p>
        <p className="flex gap-1 text-quiet">
          <span className="min-w-0 truncate">
            <VisibleText text={projects.join(", ")} />
            {key.allowList && ` · only from ${key.allowList.join(", ")}`}
          </span>
          <span className="max-w-1/2 flex-none truncate">
            · made by <Person subject={key.createdBy} />
          </span>
        </p>
      </div>
      {/* In columns, except on a phone. */}
      <p className="flex flex-wrap gap-x-4 text-quiet md:contents">
        {key.lastUsedAt ? (
          <span>
            used <Age at={key.lastUsedAt} />
          </span>
        ) : (
          <span>never used</span>
        )}
        <ExpiryBadge apiKey={key} />
      </p>
      {onRevoke && (
        <p className="flex justify-end gap-2">
          {onRotate && <Button onClick={onRotate}>Rotate</Button>}
          <Button look="danger" onClick={onRevoke}>
            Revoke
          </Button>
        </p>
      )}
    </li>
  );
}

const dayMs = 24 * 60 * 60 * 1000;
const soonDays = 14;

interface Badge {
  words: string;
  colour: string;
  icon?: IconName;
}

export function ExpiryBadge({ apiKey }: { apiKey: Pick<DashboardKey, "expiresAt" | "revokedAt"> }) {
  const { words, colour, icon } = badgeOf(apiKey, Date.now());
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
      {icon && <Icon name={icon} />}
      {words}
    </span>
  );
}

function badgeOf(key: Pick<DashboardKey, "expiresAt" | "revokedAt">, nowMs: number): Badge {
  if (key.revokedAt) return { words: "revoked", colour: "text-quiet" };
  if (!key.expiresAt) return { words: "never expires", colour: "text-quiet" };
  const days = Math.ceil((Date.parse(key.expiresAt) - nowMs) / dayMs);
  if (days <= 0) return { words: "expired", colour: "font-semibold text-bad", icon: "cross" };
  const words = `expires in ${days} ${days === 1 ? "day" : "days"}`;
  if (days > soonDays) return { words, colour: "text-quiet" };
  return { words, colour: "font-semibold text-warn", icon: "warning" };
}
