import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { RouteDeps } from "../dashboard.ts";
import { findProject } from "../find.ts";
import { bodyParser } from "../parse-request.ts";
import { subjectOf } from "../require-session.ts";

type Identified = { Params: { id: string } };
const parseImport = bodyParser(
  Type.Union([
    Type.Object({ url: Type.String({ minLength: 1, maxLength: 1000 }) }),
    Type.Object({ template: Type.String({ minLength: 1, maxLength: 40 }) }),
  ]),
);
const uploadBytesMax = 64 * 1024 * 1024;
/** Files that an import leaves out, such as those of node_modules, count here. */
const framesMax = 200_000;
/** Each keeps its files in memory until they are committed. */
const uploads = { perHolderMax: 1, allMax: 2 };

/** The first content of a repository that Emend hosts: chosen files, a public repository, or a template. */
export function projectImportRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.get<Identified>("/projects/:id/import", async (request) => {
    const project = await findLocal(deps, request);
    return { isEmpty: await deps.projectAdmin.isEmpty(project.id), templates: deps.projectAdmin.templates };
  });

  app.post<Identified>("/projects/:id/import", async (request) => {
    const project = await findLocal(deps, request);
    await deps.projectAdmin.fill(project.id, parseImport(request.body));
    await deps.askSiteCheck(project.id);
    return {};
  });

  const seats = createKeyedSemaphore(uploads);
  app.register(async (scope) => {
    scope.addHook("preParsing", async (request, reply, payload) => {
      if (acquireForResponse(seats, subjectOf(request), reply.raw)()) return payload;
      throw new AppError("rate_limited", { publicMessage: "Another import is running.", retryAfterMs: 5_000 });
    });
    scope.addContentTypeParser(
      "application/octet-stream",
      { parseAs: "buffer", bodyLimit: uploadBytesMax },
      (_request: FastifyRequest, body: Buffer, done: (error: null, value: Buffer) => void) => done(null, body),
    );
    scope.post<Identified>("/projects/:id/import/files", { bodyLimit: uploadBytesMax }, async (request) => {
      const project = await findLocal(deps, request);
      if (!Buffer.isBuffer(request.body)) throw invalid("Send the files as application/octet-stream.");
      await deps.projectAdmin.fill(project.id, { files: readFrames(request.body) });
      await deps.askSiteCheck(project.id);
      return {};
    });
  });
}

async function findLocal(deps: RouteDeps, request: FastifyRequest<Identified>) {
  const project = await findProject(deps.pool, request.params.id);
  if (project.forge === "local") return project;
  throw invalid("Only a repository that Emend hosts can be filled here.");
}

/** Each file: the length of its path and of its content, four bytes each, then both. */
export function readFrames(body: Buffer): { path: string; content: Buffer }[] {
  const files: { path: string; content: Buffer }[] = [];
  for (let at = 0; at < body.length; ) {
    if (at + 8 > body.length) throw invalid("The upload is incomplete. Try again.");
    const [pathBytes, contentBytes] = [body.readUInt32BE(at), body.readUInt32BE(at + 4)];
    if (pathBytes === 0) throw invalid("A file has no path.");
    if (files.length === framesMax) throw invalid(`There are more than ${framesMax} files.`);
    const contentAt = at + 8 + pathBytes;
    const end = contentAt + contentBytes;
    if (end > body.length) throw invalid("The upload is incomplete. Try again.");
    files.push({ path: body.toString("utf8", at + 8, contentAt), content: body.subarray(contentAt, end) });
    at = end;
  }
  return files;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
