import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authenticateKey } from "../accounts/authenticate-key.ts";
import type { Keyring } from "../accounts/keyring.ts";
import { projectNotFound, refuse, routeNotFound, unauthorized } from "./refuse.ts";

interface KnownPath {
  form: RegExp;
  methods: Set<string>;
}

/** Answers what no route takes: 405 where another method would do, else 404. Below `/v2` the key comes first, as everywhere. */
export function createUnrouted(deps: { keyring: Keyring }) {
  const paths = new Map<string, KnownPath>();

  return {
    /** Call before the routes are added. */
    watch(app: FastifyInstance): void {
      app.addHook("onRoute", ({ url, method }) => {
        const known = paths.get(url) ?? { form: formOf(url), methods: new Set<string>() };
        for (const one of [method].flat()) known.methods.add(one);
        paths.set(url, known);
      });
    },
    async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const path = (request.raw.url ?? "").split(/[?#]/, 1)[0] ?? "";
      const known = [...paths.values()].find(({ form }) => form.test(path));
      if (path.startsWith("/v2/")) {
        const grant = await authenticateKey(deps.keyring, request);
        if (grant === null) return void refuse(reply, unauthorized);
        const projectId = known?.form.exec(path)?.groups?.projectId;
        if (projectId !== undefined && !grant.projectIds.has(projectId)) return void refuse(reply, projectNotFound);
      }
      // The method is right where the framework could not decode the path.
      if (!known || known.methods.has(request.method)) return void refuse(reply, routeNotFound);
      refuse(reply, {
        code: "method_not_allowed",
        message: `${request.method} is not possible here.`,
        headers: { allow: [...known.methods].join(", ") },
      });
    },
  };
}

/** Ids that a key covers need no decoding, so none is done: an encoded one is not found. */
function formOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? `(?<${part.slice(1).replace(/\W.*/, "")}>[^/]*)` : part.replace(/[^\w-]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}/?$`);
}
