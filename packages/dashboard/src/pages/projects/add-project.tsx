import type { DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, CommandLine } from "../../parts/button.tsx";
import { shellWord } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { noticeKey } from "./connection.tsx";
import { defaultHosts, forgeOptions, forgeWords, githubTokenPage } from "./forges.ts";
import { GithubAppChoice, NewGithubApp } from "./github-app.tsx";
import { InstallApp, type ListedRepository, RepositoryPicker, useRepositories } from "./repository-picker.tsx";

type Forge = DashboardProject["forge"];

export function AddProjectPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { from } = useSearch({ from: "/projects/new" });
  const isOwner = useQuery(sessionQuery).data?.role === "owner";
  // Another project's access, or a new GitHub App.
  const lender = useProjects(from === undefined ? [] : [from]).found.get(from ?? "");
  const [chosenForge, setForge] = useState<Forge>("local");
  const forge = from === undefined ? chosenForge : (lender?.forge ?? "github");
  const [typed, setTyped] = useState({ name: "", repo: "", credential: "", baseRef: "", docsDir: "" });
  const [chosen, setChosen] = useState<ListedRepository | null>(null);
  const [isNewApp, setNewApp] = useState(false);
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    onText: (text: string) => setTyped((before) => ({ ...before, [name]: text })),
  });
  const choose = (repository: ListedRepository) => {
    setChosen(repository);
    setTyped((before) => ({
      ...before,
      repo: repository.url,
      // A name that a person typed stays.
      name: before.name === "" || before.name === (chosen && nameOf(chosen)) ? nameOf(repository) : before.name,
    }));
  };
  const add = useMutation({
    mutationFn: () => {
      const { name, repo, credential, baseRef, docsDir } = typed;
      const access = from === undefined ? { credential } : { from };
      const far = { repo: repo.trim(), ...access, ...(baseRef && { baseRef }), ...(docsDir && { docsDir }) };
      const body = { name, forge, ...(forge !== "local" && far) };
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
          {from === undefined && (
            <SelectInput label="Repository host" value={forge} onValue={setForge} options={forgeOptions} />
          )}
          {forge === "local" ? (
            <p className="text-quiet">
              Emend creates an empty repository. Next you drop a folder or a zip file, import a public repository, or
              start from a template. Pull requests are reviewed here.
            </p>
          ) : (
            <>
              {forge === "github" && from === undefined && isOwner && <GithubAppChoice onNew={() => setNewApp(true)} />}
              {from === undefined ? (
                <Token forge={forge} address={typed.repo} {...field("credential")} />
              ) : (
                <StoredAccess from={from} lender={lender?.name} />
              )}
              <Address
                forge={forge}
                source={from === undefined ? sourceOf(forge, typed) : { from }}
                onChoose={choose}
                {...field("repo")}
              />
              <div className="grid gap-4 sm:grid-cols-2">
                <TextInput
                  label="Base branch"
                  help="The branch that changes start from and go back to."
                  isCode
                  maxLength={200}
                  placeholder={
                    chosen?.url === typed.repo && chosen.defaultBranch
                      ? `${chosen.defaultBranch}, the default branch`
                      : "the default branch"
                  }
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
            </>
          )}
        </Form>
      </Sheet>
      {isNewApp && <NewGithubApp onClose={() => setNewApp(false)} />}
      {from === undefined && (
        <div className="pt-6">
          <CommandLine text={commandOf(forge, typed)} />
        </div>
      )}
    </div>
  );
}

function nameOf({ path }: ListedRepository): string {
  return path.split("/").at(-1) ?? path;
}

interface FieldProps {
  value: string;
  onText(text: string): void;
}

function Token({ forge, address, ...field }: FieldProps & { forge: Exclude<Forge, "local">; address: string }) {
  return (
    <div className="grid gap-1">
      <TextInput
        label="Token"
        help={`${forgeWords[forge].token} It is stored encrypted and never shown again.`}
        type="password"
        autoComplete="off"
        required
        isCode
        {...field}
      />
      {forge === "github" && (
        <a
          href={githubTokenPage(address)}
          target="_blank"
          rel="noreferrer"
          className="justify-self-start underline underline-offset-2"
        >
          Create a token on GitHub
        </a>
      )}
    </div>
  );
}

/** The repository's address, typed or chosen from a list. */
function Address(
  props: FieldProps & {
    forge: Exclude<Forge, "local">;
    source: ReturnType<typeof sourceOf> | { from: string };
    onChoose(repository: ListedRepository): void;
  },
) {
  const [isOpen, setOpen] = useState(false);
  const { forge, source, onChoose, ...field } = props;
  return (
    <div className="flex flex-wrap items-end gap-2">
      <div className="min-w-0 flex-1 basis-60">
        <TextInput
          label="Address"
          type="url"
          required
          maxLength={1000}
          isCode
          placeholder={forgeWords[forge].address}
          {...field}
        />
      </div>
      {forge in defaultHosts && (
        <Button disabled={source === null} onClick={() => setOpen(true)}>
          Choose from list
        </Button>
      )}
      {isOpen && source && <RepositoryPicker source={source} onChoose={onChoose} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Null until there is a token, and a server to send it to. */
function sourceOf(forge: Forge, typed: { repo: string; credential: string }) {
  const host = URL.parse(typed.repo.trim())?.origin ?? defaultHosts[forge];
  return host && typed.credential ? { forge, host, credential: typed.credential } : null;
}

/** Says whose access is used, and what is left to do on GitHub. */
function StoredAccess({ from, lender }: { from: string; lender: string | undefined }) {
  const { install, error, isLoading, repositories, refetch } = useRepositories({ from });
  if (error) return <Problem error={error} />;
  if (install) return <InstallApp install={install} onCheck={() => refetch()} />;
  const count = repositories.length === 1 ? "one repository" : `${repositories.length} repositories`;
  return (
    <p className="text-quiet" role="status">
      {lender ? `With the access of the project ${lender}.` : "With the new GitHub App."}{" "}
      {isLoading ? "Looking for its repositories …" : `It reaches ${count}.`}
    </p>
  );
}

/** Without the token, which must not be in the shell's history. */
function commandOf(forge: string, typed: { name: string; repo: string; baseRef: string; docsDir: string }): string {
  const parts = ["emend project add", shellWord(typed.name || "My docs"), "--forge", forge];
  if (forge === "local") return parts.join(" ");
  parts.push("--repo", typed.repo ? shellWord(typed.repo) : "URL", "--token-env FORGE_TOKEN");
  if (typed.baseRef) parts.push("--base", shellWord(typed.baseRef));
  if (typed.docsDir) parts.push("--docs", shellWord(typed.docsDir));
  return parts.join(" ");
}
