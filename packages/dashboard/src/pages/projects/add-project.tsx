import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { CopyBlock } from "../../parts/button.tsx";
import { shellWord } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { noticeKey } from "./connection.tsx";
import { forgeOptions, forgeWords } from "./forges.ts";

export function AddProjectPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [forge, setForge] = useState<DashboardProject["forge"]>("local");
  const [typed, setTyped] = useState({ name: "", repo: "", credential: "", baseRef: "", docsDir: "" });
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    onText: (text: string) => setTyped((before) => ({ ...before, [name]: text })),
  });
  const add = useMutation({
    mutationFn: () => {
      const { name, repo, credential, baseRef, docsDir } = typed;
      const far = forge === "local" ? {} : { repo: repo.trim(), credential };
      const body = { name, forge, ...far, ...(baseRef && { baseRef }), ...(docsDir && { docsDir }) };
      return request<DashboardProject>("/projects", { body });
    },
    async onSuccess({ id, notice }) {
      queries.setQueryData(noticeKey(id), notice);
      await queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/projects/$id", params: { id }, search: forge === "local" ? {} : { tab: "connection" } });
    },
  });
  return (
    <div className="mx-auto max-w-[640px]">
      <title>Add a project · Emend</title>
      <Head title="Add a project" />
      <Sheet className="p-5">
        <Form
          action={add}
          submit={add.isPending && forge !== "local" ? "Checking the repository …" : "Add project"}
          onCancel={() => navigate({ to: "/projects" })}
        >
          <TextInput label="Name" required {...field("name")} />
          <SelectInput label="Repository host" value={forge} onValue={setForge} options={forgeOptions} />
          {forge === "local" ? (
            <p className="text-quiet">
              Emend creates an empty repository. You push your docs to it and review pull requests here.
            </p>
          ) : (
            <>
              <TextInput
                label="Address"
                type="url"
                required
                maxLength={1000}
                isCode
                placeholder={forgeWords[forge].address}
                {...field("repo")}
              />
              <TextInput
                label="Token"
                help={`${forgeWords[forge].token} It is stored encrypted and never shown again.`}
                type="password"
                autoComplete="off"
                required
                isCode
                {...field("credential")}
              />
            </>
          )}
          <div className="grid gap-4 sm:grid-cols-2">
            <TextInput
              label="Base branch"
              isCode
              maxLength={200}
              placeholder="the default branch"
              {...field("baseRef")}
            />
            <TextInput
              label="Docs folder"
              isCode
              maxLength={1000}
              placeholder="the whole repository"
              {...field("docsDir")}
            />
          </div>
        </Form>
      </Sheet>
      <p className="pt-6 pb-2 text-quiet">From the command line:</p>
      <CopyBlock text={commandOf(forge, typed)} />
    </div>
  );
}

/** Without the token, which must not be in the shell's history. */
function commandOf(forge: string, typed: { name: string; repo: string; baseRef: string; docsDir: string }): string {
  const parts = ["emend project add", shellWord(typed.name || "My docs"), "--forge", forge];
  if (forge !== "local") parts.push("--repo", typed.repo ? shellWord(typed.repo) : "URL", "--token-env FORGE_TOKEN");
  if (typed.baseRef) parts.push("--base", shellWord(typed.baseRef));
  if (typed.docsDir) parts.push("--docs", shellWord(typed.docsDir));
  return parts.join(" ");
}
