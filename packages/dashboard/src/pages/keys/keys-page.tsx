import type { DashboardKey } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keysQuery, projectsQuery } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { addProjectLine, createKeyLine } from "../../parts/commands.ts";
import { CopyBlock, CopyButton } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { CreateKey } from "./create-key.tsx";
import { isLive } from "./is-live.ts";
import { KeyRow } from "./key-row.tsx";
import { NewKey, type ShownKey } from "./new-key.tsx";
import { RevokeKey } from "./revoke-key.tsx";

type Open =
  | { kind: "create"; like: DashboardKey | null }
  | { kind: "created"; key: ShownKey }
  | { kind: "revoke"; key: DashboardKey };

export function KeysPage() {
  const keys = useQuery(keysQuery);
  const projects = useQuery(projectsQuery);
  const mayWrite = useMayWrite();
  const [open, setOpen] = useState<Open | null>(null);
  if (!keys.data || !projects.data) return <Pending error={keys.error ?? projects.error} />;
  const close = () => setOpen(null);
  const live = keys.data.filter(isLive);
  const over = keys.data.filter((key) => !isLive(key));
  const nameOf = new Map(projects.data.map(({ id, name }) => [id, name]));
  const rows = (list: readonly DashboardKey[]) =>
    list.map((key) => (
      <KeyRow
        key={key.id}
        apiKey={key}
        projects={key.projectIds.map((id) => nameOf.get(id) ?? id)}
        {...(mayWrite &&
          isLive(key) && {
            onRotate: () => setOpen({ kind: "create", like: key }),
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
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2>Project ids</h2>
          <Sheet>
            {projects.data.length === 0 && (
              <Empty>
                <p>A key belongs to a project. Add a project first.</p>
                <CopyBlock text={addProjectLine} />
              </Empty>
            )}
            <ul className="divide-y divide-line">
              {projects.data.map(({ id, name }) => (
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
                <p>
                  No active keys. Create one to call the API.
                  {projects.data.length === 0 && " To add a project and a key at once:"}
                </p>
                <CopyBlock text={createKeyLine(projects.data[0]?.id ?? null)} />
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
          projects={projects.data}
          like={open.like}
          onClose={close}
          onCreated={(key) => setOpen({ kind: "created", key })}
        />
      )}
      {open?.kind === "created" && <NewKey shown={open.key} onClose={close} />}
      {open?.kind === "revoke" && <RevokeKey apiKey={open.key} onClose={close} />}
    </>
  );
}
