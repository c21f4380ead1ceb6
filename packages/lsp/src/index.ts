import { createConnection, ProposedFeatures } from "vscode-languageserver/node";
import { serveEditor } from "./server.ts";

export interface LspStreams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Serves an editor over standard input and output (Language Server Protocol 3.18) until it leaves or `signal` aborts. */
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
