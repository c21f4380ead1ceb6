import { Ajv } from "ajv";

interface Operation {
  query?: Readonly<Record<string, { type?: unknown; enum?: readonly string[] }>>;
  request?: object;
  responses: Readonly<Record<string, object>>;
  /** One example per response, with the vendor's own values. */
  examples?: Readonly<Record<string, unknown>>;
}

export interface ApiDescription {
  definitions: Readonly<Record<string, object>>;
  operations: Readonly<Record<string, Operation>>;
}

/** Statuses that every operation of every vendor may return, and no description lists. */
const anywhere = [401, 403, 404, 429, 500, 502, 503];

/** Reports where a request or response differs from the vendor's description. */
export function createApiJudge(description: ApiDescription) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  const compiled = new Map<object, ReturnType<typeof ajv.compile>>();

  function mistakes(schema: object, value: unknown): string[] {
    const known = compiled.get(schema) ?? ajv.compile({ ...schema, definitions: description.definitions });
    compiled.set(schema, known);
    if (known(value)) return [];
    return (known.errors ?? []).map(
      (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
    );
  }

  return {
    request(operation: string, query: URLSearchParams, body: unknown): string[] {
      const known = description.operations[operation];
      if (!known) return [`${operation} is not described`];
      const parameters = new Map(Object.entries(known.query ?? {}));
      const unknown = [...query.keys()].filter((name) => !parameters.has(name));
      const unlisted = [...query].filter(([name, value]) => parameters.get(name)?.enum?.includes(value) === false);
      return [
        ...unknown.map((name) => `${operation}: no query parameter ${name}`),
        ...unlisted.map(([name, value]) => `${operation}: query parameter ${name} is never ${value}`),
        ...(known.request ? mistakes(known.request, body).map((why) => `${operation}: request ${why}`) : []),
      ];
    },
    answer(operation: string, status: number, body: unknown): string[] {
      const schema = description.operations[operation]?.responses[status];
      if (!schema) return anywhere.includes(status) ? [] : [`${operation}: no answer ${status}`];
      return mistakes(schema, JSON.parse(JSON.stringify(body))).map((why) => `${operation}: answer ${status} ${why}`);
    },
  };
}
