import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { KeyGrant, KeyScope } from "../accounts/keys/api-keys.ts";
import { authenticateKey, type Keyring } from "../accounts/keys/keyring.ts";
import type { Project, Projects } from "../accounts/projects/projects.ts";
import { projectNotFound, readOnlyKey, refuse, unauthorized } from "./errors.ts";

export interface RequireKeyDeps {
  keyring: Keyring;
  projects: Projects;
}

/**
 * Middleware that runs before the body is read: key 401, project 404, scope 403. Cached values are checked
 * synchronously: a promise here costs a tenth of the requests per second.
 */
export function requireKey(
  deps: RequireKeyDeps,
  needs: { scope: Exclude<KeyScope, "manage">; project?: "loaded" },
): onRequestHookHandler {
  return (request, reply, done) => {
    const grant = authenticateKey(deps.keyring, request);
    if (grant instanceof Promise) grant.then((found) => judgeGrant(found, request, reply, done), done);
    else judgeGrant(grant, request, reply, done);
  };

  function judgeGrant(grant: KeyGrant | null, request: FastifyRequest, reply: FastifyReply, done: Done): void {
    if (grant === null) {
      refuse(reply, unauthorized);
      return;
    }
    const { projectId } = request.params as { projectId: string };
    if (!grant.projectIds.has(projectId)) {
      refuse(reply, projectNotFound);
      return;
    }
    request.grant = grant;
    if (needs.project === undefined) {
      judgeScope(grant, reply, done);
      return;
    }
    const project = deps.projects.get(projectId);
    if (project instanceof Promise) project.then((found) => judgeProject(found, request, reply, done), done);
    else judgeProject(project, request, reply, done);
  }

  function judgeProject(project: Project | undefined, request: FastifyRequest, reply: FastifyReply, done: Done): void {
    if (project === undefined) {
      refuse(reply, projectNotFound);
      return;
    }
    request.project = project;
    judgeScope(request.grant as KeyGrant, reply, done);
  }

  function judgeScope(grant: KeyGrant, reply: FastifyReply, done: Done): void {
    if (needs.scope === "write" && grant.scope === "read") refuse(reply, readOnlyKey);
    else done();
  }
}

type Done = (error?: Error) => void;
