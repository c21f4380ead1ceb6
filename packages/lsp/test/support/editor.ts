import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nodeEnvironment } from "@emend/testkit/server.ts";
import { afterAll } from "vitest";
import {
  type ClientCapabilities,
  createProtocolConnection,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  InitializedNotification,
  InitializeRequest,
  LogMessageNotification,
  type Position,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShowMessageNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type WorkspaceEdit,
} from "vscode-languageserver-protocol/node";

const main = join(import.meta.dirname, "../../../cli/src/main.ts");
const left: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of left) await end();
});

export type Files = Record<string, string>;

export async function makeSite(files: Files): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "emend-lsp-"));
  left.push(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) await writePage(dir, path, text);
  return dir;
}

export async function writePage(dir: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
}

export interface Editor {
  connection: ProtocolConnection;
  uri(path: string): string;
  /** Waits until the diagnostics of a file match. */
  untilDiagnosed(path: string, isIt: (diagnostics: readonly Diagnostic[]) => boolean): Promise<readonly Diagnostic[]>;
  untilTold(text: string): Promise<string>;
  open(path: string, text: string): Promise<void>;
  type(path: string, text: string): Promise<void>;
  close(): Promise<number | null>;
  registered: string[];
}

/** A real client of `emend lsp`, over standard input and output. */
export async function startEditor(
  dirs: readonly string[],
  { capabilities = {}, options }: { capabilities?: ClientCapabilities; options?: object } = {},
): Promise<Editor> {
  const [dir = ""] = dirs;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "lsp", "--stdio"], {
    env: { ...nodeEnvironment, HOME: process.env.HOME },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const diagnosed = new Map<string, readonly Diagnostic[]>();
  const told: string[] = [];
  const registered: string[] = [];
  const waiting = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of waiting) wake();
  };
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
    diagnosed.set(fileURLToPath(uri), diagnostics);
    wakeAll();
  });
  for (const type of [ShowMessageNotification.type, LogMessageNotification.type]) {
    connection.onNotification(type, ({ message }) => {
      told.push(message);
      wakeAll();
    });
  }
  connection.onRequest(RegistrationRequest.type, ({ registrations }) => {
    registered.push(...registrations.map(({ method }) => method));
    wakeAll();
  });
  connection.listen();

  async function until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
      });
    }
  }

  const uri = (path: string): string => pathToFileURL(join(dir, path)).href;
  let version = 1;
  let isOver = false;
  const editor: Editor = {
    connection,
    uri,
    registered,
    untilDiagnosed: (path, isIt) =>
      until(() => {
        const diagnostics = diagnosed.get(join(dir, path));
        return diagnostics !== undefined && isIt(diagnostics) ? diagnostics : undefined;
      }),
    untilTold: (text) => until(() => told.find((message) => message.includes(text))),
    open: (path, text) =>
      connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri: uri(path), languageId: "markdown", version: version++, text },
      }),
    type: (path, text) =>
      connection.sendNotification(DidChangeTextDocumentNotification.type, {
        textDocument: { uri: uri(path), version: version++ },
        contentChanges: [{ text }],
      }),
    async close() {
      if (isOver) return ended;
      isOver = true;
      await connection.sendRequest(ShutdownRequest.type);
      await connection.sendNotification(ExitNotification.type);
      const code = await ended;
      connection.dispose();
      return code;
    },
  };
  left.unshift(() => editor.close());
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities,
    workspaceFolders: dirs.map((one) => ({ uri: pathToFileURL(one).href, name: one })),
    initializationOptions: options,
  });
  await connection.sendNotification(InitializedNotification.type, {});
  return editor;
}

/** The position of a text. `inside`: the offset in UTF-16 units. */
export function placeOf(text: string, piece: string, inside = 0): Position {
  const at = text.indexOf(piece) + inside;
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

/** The text after an editor has applied the edits. */
export function applyTo(text: string, { changes, documentChanges }: WorkspaceEdit, uri: string): string {
  const edits =
    changes?.[uri] ??
    documentChanges?.flatMap((one) => ("textDocument" in one && one.textDocument.uri === uri ? one.edits : [])) ??
    [];
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offset = ({ line, character }: Position): number => (starts[line] ?? text.length) + character;
  const ordered = edits.flatMap((edit) => ("newText" in edit ? [edit] : []));
  ordered.sort((a, b) => offset(b.range.start) - offset(a.range.start));
  let out = text;
  for (const { range, newText } of ordered) {
    out = out.slice(0, offset(range.start)) + newText + out.slice(offset(range.end));
  }
  return out;
}
