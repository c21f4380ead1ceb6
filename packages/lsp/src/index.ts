import type { Finding, Site } from "@emend/site";
import {
  type CodeAction,
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  LSPErrorCodes,
  MessageType,
  ProposedFeatures,
  type Range,
  ResponseError,
  ShowMessageNotification,
  TextDocumentSyncKind,
  TextDocuments,
  type TextEdit,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { type Asked, completeTarget, describeTarget, findDefinition, listLinks, listReferences } from "./answers.ts";
import { type Placed, placeFindings } from "./diagnostics.ts";
import { overlap } from "./positions.ts";
import { type EditAbilities, prepareRename, type Renaming, renameAt, renameFiles } from "./renames.ts";
import { openWorkspace, type Workspace } from "./workspace.ts";

export interface LspStreams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/**
 * Serves an editor over standard input and output (Language Server Protocol 3.18) until it disconnects or `signal`
 * aborts.
 */
export async function serveLsp(streams: LspStreams, version: string, signal: AbortSignal): Promise<void> {
  const connection = createConnection(ProposedFeatures.all, streams.input, streams.output);
  const { promise, resolve } = Promise.withResolvers<void>();
  connection.onExit(resolve);
  signal.addEventListener("abort", () => resolve());
  streams.input.once("close", () => resolve());
  serveEditor(connection, version);
  await promise;
  connection.dispose();
}

/** Serves an editor over a connection, for all its open folders. */
export function serveEditor(connection: Connection, version: string): void {
  const documents = new TextDocuments(TextDocument);
  const workspaces = new Map<string, Workspace>();
  /** URI → the published diagnostics, and the state they were made from. */
  const published = new Map<string, { key: string; placed: readonly Placed[] }>();
  let abilities: EditAbilities;
  let isTold = false;
  let docs = "";

  connection.onInitialize((params) => {
    abilities = abilitiesOf(params);
    isTold = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    const wanted = (params.initializationOptions as { docs?: unknown } | undefined)?.docs;
    docs = typeof wanted === "string" ? wanted : "";
    const single = params.rootUri ?? null;
    const folders = params.workspaceFolders ?? (single === null ? [] : [{ uri: single, name: "" }]);
    for (const { uri } of folders) addFolder(uri);
    return {
      serverInfo: { name: "emend", version },
      capabilities: {
        positionEncoding: "utf-16",
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: false },
        codeActionProvider: { codeActionKinds: ["quickfix", "source.fixAll"] },
        definitionProvider: true,
        referencesProvider: true,
        hoverProvider: true,
        documentLinkProvider: { resolveProvider: false },
        completionProvider: { triggerCharacters: ["(", "/", "#", '"', "'", "."] },
        renameProvider: { prepareProvider: true },
        workspace: {
          workspaceFolders: { supported: true, changeNotifications: true },
          fileOperations: { willRename: { filters: [{ scheme: "file", pattern: { glob: "**/*" } }] } },
        },
      },
    };
  });

  connection.onInitialized(() => {
    if (isTold) {
      const watchers = [{ globPattern: "**/*" }];
      const refused = (error: Error): void => tell(`The editor does not tell of changed files: ${error.message}`, true);
      connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(refused);
    }
    connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
      for (const { uri } of removed) void removeFolder(uri);
      for (const { uri } of added) addFolder(uri);
    });
    if (workspaces.size === 0) connection.console.info("No folder is open: open the one that holds the docs.");
    for (const workspace of workspaces.values()) void workspace.checked();
  });

  function addFolder(uri: string): void {
    if (!uri.startsWith("file:") || workspaces.has(uri)) return;
    const workspace = openWorkspace(uri, { docs, isTold }, { onChecked: publish, onNews: tell });
    workspaces.set(uri, workspace);
    for (const document of documents.all()) follow(document);
    void workspace.checked();
  }

  async function removeFolder(uri: string): Promise<void> {
    const workspace = workspaces.get(uri);
    workspaces.delete(uri);
    if (workspace === undefined) return;
    await workspace.close();
    for (const address of published.keys()) {
      if (workspace.pathOf(address) === null) continue;
      published.delete(address);
      await connection.sendDiagnostics({ uri: address, diagnostics: [] });
    }
  }

  function tell(message: string, isFault: boolean): void {
    if (isFault) show(MessageType.Error, message);
    else connection.console.info(message);
  }

  /** Sent as a notification: the library's calls wait for a response, and end the program if an editor sends none. */
  function show(type: MessageType, message: string): void {
    void connection.sendNotification(ShowMessageNotification.type, { type, message: `Emend: ${message}` });
  }

  /** The innermost folder that contains a file. */
  function holderOf(uri: string): { workspace: Workspace; path: string } | null {
    let found: { workspace: Workspace; path: string } | null = null;
    for (const workspace of workspaces.values()) {
      const path = workspace.pathOf(uri);
      if (path !== null && (found === null || path.length < found.path.length)) found = { workspace, path };
    }
    return found;
  }

  function follow(document: TextDocument): void {
    const holder = holderOf(document.uri);
    holder?.workspace.setText(document.uri, holder.path, document.getText());
  }

  documents.onDidChangeContent(({ document }) => follow(document));
  documents.onDidClose(({ document }) => {
    const holder = holderOf(document.uri);
    holder?.workspace.setText(document.uri, holder.path, null);
  });
  connection.onDidChangeWatchedFiles(({ changes }) => {
    for (const workspace of workspaces.values()) {
      const paths = changes.flatMap(({ uri }) => workspace.pathOf(uri) ?? []);
      if (paths.length > 0) workspace.changed(paths);
    }
  });

  async function publish(workspace: Workspace, site: Site, findings: readonly Finding[]): Promise<void> {
    const byPath = Map.groupBy(findings, ({ path }) => path);
    for (const [path, group] of byPath) {
      const uri = workspace.uriOf(path);
      const key = `${site.index.files.get(path)?.hash}\n${JSON.stringify(group)}`;
      if (published.get(uri)?.key === key) continue;
      const placed = await placeFindings(workspace, site, path, group);
      published.set(uri, { key, placed });
      await connection.sendDiagnostics({ uri, diagnostics: placed.map(({ diagnostic }) => diagnostic) });
    }
    for (const uri of published.keys()) {
      const holder = holderOf(uri);
      if (holder?.workspace !== workspace || byPath.has(holder.path)) continue;
      published.delete(uri);
      await connection.sendDiagnostics({ uri, diagnostics: [] });
    }
  }

  async function ask(uri: string): Promise<Asked | null> {
    const holder = holderOf(uri);
    const site = await holder?.workspace.site();
    return holder === null || !site ? null : { ...holder, site };
  }

  /** Routes a request to its workspace. Null if the file belongs to no site. */
  function answer<P extends { textDocument: { uri: string } }, R>(give: (asked: Asked, params: P) => Promise<R>) {
    return async (params: P): Promise<R | null> => {
      const asked = await ask(params.textDocument.uri);
      return asked === null ? null : give(asked, params);
    };
  }

  connection.onDefinition(answer((asked, { position }) => findDefinition(asked, position)));
  connection.onHover(answer((asked, { position }) => describeTarget(asked, position)));
  connection.onReferences(
    answer((asked, { position, context }) => listReferences(asked, position, context.includeDeclaration)),
  );
  connection.onDocumentLinks(answer((asked) => listLinks(asked)));
  connection.onCompletion(answer((asked, { position }) => completeTarget(asked, position)));
  connection.onPrepareRename(answer((asked, { position }) => prepareRename(asked, position)));
  connection.onRenameRequest(
    answer(async (asked, { position, newName }) => {
      const renaming = await renameAt(asked, position, newName, abilities);
      if (renaming.kind === "refused") throw new ResponseError(LSPErrorCodes.RequestFailed, renaming.reason);
      return finish(renaming);
    }),
  );

  connection.workspace.onWillRenameFiles(async ({ files }) => {
    for (const workspace of workspaces.values()) {
      const inside = files.flatMap(({ oldUri, newUri }) => {
        const [from, to] = [workspace.pathOf(oldUri), workspace.pathOf(newUri)];
        return from === null || to === null || holderOf(oldUri)?.workspace !== workspace ? [] : [{ from, to }];
      });
      const site = inside.length === 0 ? null : await workspace.site();
      if (site === null) continue;
      const renaming = await renameFiles(workspace, site, inside, abilities);
      if (renaming.kind === "edit") return finish(renaming);
      show(MessageType.Warning, `this move is not followed, because ${renaming.reason}.`);
    }
    return null;
  });

  function finish({ edit, left }: Extract<Renaming, { kind: "edit" }>) {
    if (left.length > 0) show(MessageType.Warning, `${left.length} left for you to do: ${left[0]}`);
    return edit;
  }

  connection.onCodeAction(async ({ textDocument: { uri }, range, context }) => {
    const holder = holderOf(uri);
    const site = await holder?.workspace.checked();
    if (holder === null || !site) return null;
    const { placed = [] } = published.get(uri) ?? {};
    const fixable = placed.filter(({ finding }) => finding.fix !== undefined);
    const wants = (kind: string): boolean =>
      context.only === undefined || context.only.some((only) => kind === only || kind.startsWith(`${only}.`));
    const actions: CodeAction[] = [];
    for (const one of wants("quickfix") ? fixable.filter(({ diagnostic }) => overlap(diagnostic.range, range)) : []) {
      actions.push({
        title: one.finding.fix?.title ?? "",
        kind: "quickfix",
        isPreferred: true,
        diagnostics: [one.diagnostic],
        edit: { changes: await editsOf(holder.workspace, [one]) },
      });
    }
    // Without a request it is offered only next to something that it would fix.
    if (fixable.length > 0 && wants("source.fixAll.emend") && (context.only !== undefined || actions.length > 0)) {
      const title = `Fix every certain finding in this file (${fixable.length})`;
      const edit = { changes: await editsOf(holder.workspace, fixable) };
      actions.push({ title, kind: "source.fixAll.emend", edit });
    }
    return actions;
  });

  /** Fixes as edits. If two overlap, only the first is used. */
  async function editsOf(workspace: Workspace, placed: readonly Placed[]): Promise<Record<string, TextEdit[]>> {
    const changes: Record<string, TextEdit[]> = {};
    for (const { finding } of placed) {
      for (const { path, start, end, text } of finding.fix?.edits ?? []) {
        const range: Range = (await workspace.text(path)).range(start, end);
        const uri = workspace.uriOf(path);
        changes[uri] ??= [];
        if (!changes[uri].some((other) => overlap(other.range, range))) changes[uri].push({ range, newText: text });
      }
    }
    return changes;
  }

  connection.onShutdown(async () => {
    for (const workspace of workspaces.values()) await workspace.close();
    workspaces.clear();
  });

  documents.listen(connection);
  connection.listen();

  function abilitiesOf({ capabilities }: InitializeParams): EditAbilities {
    const { documentChanges = false, resourceOperations = [] } = capabilities.workspace?.workspaceEdit ?? {};
    return {
      hasVersions: documentChanges,
      creates: documentChanges && resourceOperations.includes("create"),
      deletes: documentChanges && resourceOperations.includes("delete"),
      versionOf: (uri) => documents.get(uri)?.version ?? null,
    };
  }
}
