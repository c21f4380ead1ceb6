// Longer than other files: a directory sends a few requests in many shapes, and each row is one of them.
import { createLogger } from "@emend/base/logger.ts";
import { startApi, type TestApi } from "@emend/testkit/api.ts";
import { scimPatch } from "scim-patch";
import SCIMMY from "scimmy";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectMember, listWaiting, setDirectorySettings } from "../accounts/directory/directory-access.ts";
import {
  createDirectoryToken,
  listDirectoryTokens,
  revokeDirectoryToken,
} from "../accounts/directory/directory-tokens.ts";
import { createKey } from "../accounts/keys/api-keys.ts";
import { changeRole, inviteMember, removeMember } from "../accounts/people/members.ts";
import type { Role } from "../accounts/people/user.ts";
import { findSession, openSession } from "../accounts/sessions/session-store.ts";
import { logInIdentity } from "../accounts/single-sign-on/log-in-identity.ts";
import type { Queryable } from "../db/pool.ts";
import { consoleActor } from "../db/transaction.ts";
import { scimPlugin } from "./scim-plugin.ts";

let api: TestApi;
let token: string;
const requestsPerMinuteMax = 60;
const publicUrl = "https://emend.test/base";
beforeAll(async () => {
  api = await startApi({
    pluginOf: ({ pool }) =>
      scimPlugin({ pool, log: createLogger({ level: "silent" }), publicUrl: () => publicUrl, requestsPerMinuteMax }),
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.pool.query(
    "truncate users, directory_users, directory_groups, directory_tokens, removed_members, settings, audit_log, admin_keys, login_links cascade",
  );
  await api.pool.query(
    "insert into users (id, email, name, role) values ('usr_owner', 'owner@emend.test', 'O', 'owner')",
  );
  ({ token } = await createDirectoryToken(api.pool, { name: "Okta" }, consoleActor));
});

type Json = Record<string, unknown>;
interface Answer {
  status: number;
  type: string;
  location: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whichever field it is about
  json: any;
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await api.send(`/scim/v2${path}`, {
    method,
    key: token,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...(body !== undefined && { "content-type": "application/scim+json" }), ...headers },
  });
  const type = String(answer.headers["content-type"]);
  const json = type.includes("json") && answer.text !== "" ? JSON.parse(answer.text) : undefined;
  return { status: answer.status, type, location: answer.headers.location, json };
}

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";
const patch = (path: string, ...Operations: Json[]) => send("PATCH", path, { schemas: [patchSchema], Operations });
const newUser = (userName: string, more: Json = {}) => ({ schemas: [userSchema], userName, active: true, ...more });

async function addUser(userName: string, more: Json = {}): Promise<string> {
  const { status, json } = await send("POST", "/Users", newUser(userName, more));
  expect(status).toBe(201);
  return json.id;
}

async function addGroup(displayName: string, ...members: string[]): Promise<string> {
  const { status, json } = await send("POST", "/Groups", { displayName, members: members.map((value) => ({ value })) });
  expect(status).toBe(201);
  return json.id;
}

const roleOf = async (email: string) =>
  (await api.pool.query<{ role: Role }>("select role from users where email = $1", [email])).rows[0]?.role;
const give = (groups: Record<string, Role>, defaultRole: Role | null = "viewer") =>
  setDirectorySettings(
    api.pool,
    { defaultRole, groups: Object.entries(groups).map(([name, role]) => ({ name, role })) },
    consoleActor,
  );
const everything = async () =>
  (
    await api.pool.query(
      `select (select jsonb_agg(to_jsonb(users) order by id) from users) as users,
         (select jsonb_agg(to_jsonb(p) order by id) from directory_users p) as people,
         (select jsonb_agg(to_jsonb(g) order by id) from directory_groups g) as groups,
         (select jsonb_agg(to_jsonb(m) order by m) from directory_group_members m) as members`,
    )
  ).rows[0];

describe("a person", () => {
  it("is created, found, changed and removed, as RFC 7644 writes it", async () => {
    const created = await send(
      "POST",
      "/Users",
      newUser("bjensen@example.com", {
        externalId: "bjensen",
        name: { formatted: "Ms. Barbara J Jensen III", familyName: "Jensen", givenName: "Barbara" },
      }),
    );
    expect(created).toMatchObject({
      status: 201,
      type: "application/scim+json; charset=utf-8",
      json: {
        schemas: [userSchema],
        userName: "bjensen@example.com",
        externalId: "bjensen",
        active: true,
        name: { familyName: "Jensen" },
        groups: [],
        meta: { resourceType: "User", location: created.location },
      },
    });
    const { id } = created.json;
    expect(created.location).toBe(`${publicUrl}/scim/v2/Users/${id}`);
    expect((await send("GET", `/Users/${id}`)).json).toEqual(created.json);
    expect(await roleOf("bjensen@example.com")).toBe("viewer");
    const replaced = await send("PUT", `/Users/${id}`, newUser("bjensen@example.com", { displayName: "Babs" }));
    expect(replaced.json).toMatchObject({ id, displayName: "Babs", active: true });
    expect(replaced.json).not.toHaveProperty("externalId");
    expect((await api.pool.query("select name from users where email = 'bjensen@example.com'")).rows).toEqual([
      { name: "Babs" },
    ]);
    const asProviders = { "content-type": "application/scim+json", "content-length": "0" };
    expect((await send("DELETE", `/Users/${id}`, undefined, asProviders)).status).toBe(204);
    expect(await roleOf("bjensen@example.com")).toBeUndefined();
    for (const method of ["GET", "DELETE"]) {
      expect(await send(method, `/Users/${id}`)).toMatchObject({
        status: 404,
        json: { schemas: [errorSchema], status: "404", detail: "User not found." },
      });
    }
  });

  it("is listed in pages, and found by a filter, with the attributes that are asked for", async () => {
    const ids = [];
    for (const name of ["a", "b", "c"]) ids.push(await addUser(`${name}@example.com`, { externalId: `x-${name}` }));
    const page = await send("GET", "/Users?startIndex=2&count=1");
    expect(page.json).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1, Resources: [{ id: ids[1] }] });
    expect((await send("GET", "/Users?count=0")).json).toMatchObject({ totalResults: 3, Resources: [] });
    expect((await send("GET", "/Users?startIndex=-3&count=-1")).json).toMatchObject({ startIndex: 1, Resources: [] });
    for (const [filter, found] of [
      ['userName eq "B@EXAMPLE.com"', [ids[1]]],
      ['USERNAME EQ "b@example.com"', [ids[1]]],
      [`${userSchema}:userName eq "b@example.com"`, [ids[1]]],
      ['externalId eq "x-c"', [ids[2]]],
      ['externalId eq "X-C"', []],
      [`id eq "${ids[0]}"`, [ids[0]]],
      ['userName eq "nobody\\u0000"', []],
    ] as const) {
      const { status, json } = await send("GET", `/Users?filter=${encodeURIComponent(filter)}`);
      expect([status, json.Resources.map(({ id }: { id: string }) => id)]).toEqual([200, found]);
    }
    const [{ groups, meta, ...rest }] = (await send("GET", "/Users?excludedAttributes=groups,meta")).json.Resources;
    expect([groups, meta, rest.userName]).toEqual([undefined, undefined, "a@example.com"]);
    expect(Object.keys((await send("GET", `/Users/${ids[0]}?attributes=userName`)).json)).toEqual([
      "schemas",
      "id",
      "userName",
    ]);
  });

  it.each([
    'userName sw "a"',
    'userName eq "a" and active eq true',
    "userName eq a",
    'password eq "a"',
    "active eq true",
    "userName pr",
    "",
    'userName eq "a',
    `userName eq "${"a".repeat(3000)}"`,
    "') or 1=1 --",
  ])("is not found by another filter: %s", async (filter) => {
    expect(await send("GET", `/Users?filter=${encodeURIComponent(filter)}`)).toMatchObject({
      status: 400,
      json: {
        schemas: [errorSchema],
        scimType: "invalidFilter",
        status: "400",
        detail: expect.stringContaining("userName eq"),
      },
    });
  });

  it.each<[string, unknown, string]>([
    ["no userName", {}, "invalidValue"],
    ["no address", { userName: "ada" }, "invalidValue"],
    ["an address that is not ASCII", { userName: "\u0430da@example.com" }, "invalidValue"],
    ["active as a word", newUser("a@example.com", { active: "no" }), "invalidValue"],
    ["a name that is text", newUser("a@example.com", { name: "Ada" }), "invalidValue"],
    ["a number as userName", { userName: 7 }, "invalidValue"],
    ["a list", [], "invalidSyntax"],
    ["too long a name", newUser("a@example.com", { displayName: "a".repeat(201) }), "invalidValue"],
    ["emails of text", newUser("a@example.com", { emails: ["a@example.com"] }), "invalidValue"],
  ])("is refused, and changes nothing: %s", async (_what, body, scimType) => {
    const before = await everything();
    expect(await send("POST", "/Users", body)).toMatchObject({
      status: 400,
      json: { schemas: [errorSchema], scimType },
    });
    expect(await everything()).toEqual(before);
  });

  it("cannot have another's userName or address", async () => {
    await addUser("ada@example.com");
    const other = await addUser("bo@example.com");
    const before = await everything();
    const taken = { status: 409, json: { scimType: "uniqueness" } };
    expect(await send("POST", "/Users", newUser("ADA@example.com"))).toMatchObject(taken);
    expect(await send("POST", "/Users", newUser("x", { emails: [{ value: "ada@example.com" }] }))).toMatchObject(taken);
    expect(await patch(`/Users/${other}`, { op: "replace", path: "userName", value: "ada@example.com" })).toMatchObject(
      taken,
    );
    expect(
      await patch(`/Users/${other}`, { op: "replace", path: "userName", value: "owner@emend.test" }),
    ).toMatchObject({
      status: 409,
    });
    expect(await everything()).toEqual(before);
  });

  it("never takes over, renames or removes a member that it did not create", async () => {
    const before = (await api.pool.query("select * from users order by id")).rows;
    const id = await addUser("owner@emend.test", { displayName: "Not the owner" });
    await patch(`/Users/${id}`, { op: "replace", path: "userName", value: "evil@emend.test" });
    await patch(`/Users/${id}`, { op: "replace", path: "userName", value: "owner@emend.test" });
    await patch(`/Users/${id}`, { op: "replace", path: "active", value: false });
    await send("DELETE", `/Users/${id}`);
    await addUser("owner@emend.test", { active: false });
    expect((await api.pool.query("select * from users order by id")).rows).toEqual(before);
  });

  it("cannot get by a new address what an owner gave to the old one", async () => {
    const id = await addUser("ada@example.com");
    await api.pool.query("update users set role = 'owner' where email = 'ada@example.com'");
    const rename = () => patch(`/Users/${id}`, { op: "replace", path: "userName", value: "evil@emend.test" });
    expect(await rename()).toMatchObject({ status: 409 });
    expect(await roleOf("ada@example.com")).toBe("owner");
    // Somebody who logged in before is known by the provider's identity, whatever the address.
    await api.pool.query("update users set identity = 'https://idp.test ada' where email = 'ada@example.com'");
    expect((await rename()).status).toBe(200);
    const stranger = { id: "https://idp.test evil", email: "evil@emend.test", isEmailVerified: true, name: "E" };
    const rules = { domains: [], defaultRole: "viewer" as const };
    await expect(
      logInIdentity({ pool: api.pool }, { identity: stranger, rules, address: "::1", replaces: null }),
    ).rejects.toThrow("another account");
  });

  it("is the member of the same address once an owner connects them, with the role that an owner gave", async () => {
    await api.pool.query(
      "insert into users (id, email, name, role) values ('usr_m', 'm@example.com', 'M', 'maintainer')",
    );
    const id = await addUser("m@example.com", { displayName: "Em" });
    expect(await listWaiting(api.pool)).toEqual([{ id, email: "m@example.com", role: "maintainer" }]);
    // What the owner saw may have changed meanwhile.
    await expect(connectMember(api.pool, { id, email: "owner@emend.test" }, consoleActor)).rejects.toThrow("no longer");
    await connectMember(api.pool, { id, email: "m@example.com" }, consoleActor);
    expect(await listWaiting(api.pool)).toEqual([]);
    expect((await api.pool.query("select name, role from users where id = 'usr_m'")).rows).toEqual([
      { name: "Em", role: "maintainer" },
    ]);
    await changeRole(api.pool, { id: "usr_m", role: "owner" }, consoleActor);
    await patch(`/Users/${id}`, { op: "replace", path: "displayName", value: "Emm" });
    expect(await roleOf("m@example.com")).toBe("owner");
  });
});

describe("a PATCH", () => {
  // Requests as their makers publish them, with other values. Entra: MicrosoftDocs/entra-docs,
  // use-scim-to-provision-users-and-groups.md. Okta: okta/okta-developer-docs, reference/scim/scim-20. RFC 7644, 3.5.2.
  const person = {
    userName: "ada@example.com",
    active: true,
    externalId: "1",
    displayName: "Ada",
    name: { familyName: "Byron", givenName: "Ada" },
    emails: [
      { value: "ada@example.com", type: "work", primary: true },
      { value: "ada@home.test", type: "home" },
    ],
  };

  it.each<[string, Json[], Json]>([
    [
      "Entra: a part with a filter",
      [{ op: "Replace", path: 'emails[type eq "work"].value', value: "new@example.com" }],
      {
        emails: [
          { value: "new@example.com", type: "work", primary: true },
          { value: "ada@home.test", type: "home" },
        ],
      },
    ],
    [
      "Entra: a part of a name",
      [{ op: "Replace", path: "name.familyName", value: "King" }],
      {
        name: { familyName: "King", givenName: "Ada" },
      },
    ],
    ["Entra: off as text", [{ op: "Replace", path: "active", value: "False" }], { active: false }],
    ["Entra: off", [{ op: "Replace", path: "active", value: false }], { active: false }],
    ["Okta: off without a path", [{ op: "replace", value: { active: false } }], { active: false }],
    [
      "Entra: dotted names in a value",
      [{ op: "Add", value: { "name.givenName": "Augusta", displayName: "A" } }],
      {
        name: { familyName: "Byron", givenName: "Augusta" },
        displayName: "A",
      },
    ],
    [
      "Entra: an attribute that Emend does not keep",
      [
        { op: "Add", path: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", value: "Docs" },
        { op: "Add", path: 'addresses[type eq "work"].locality', value: "London" },
        { op: "Add", path: "title", value: "Countess" },
      ],
      {},
    ],
    [
      "a name with its schema",
      [{ op: "replace", path: `${userSchema}:displayName`, value: "B" }],
      { displayName: "B" },
    ],
    [
      "RFC: an address more",
      [{ op: "add", path: "emails", value: [{ value: "b@example.com", type: "other" }] }],
      {
        emails: [...person.emails, { value: "b@example.com", type: "other" }],
      },
    ],
    ["RFC: an address less", [{ op: "remove", path: 'emails[type eq "home"]' }], { emails: [person.emails[0]] }],
    ["RFC: an attribute less", [{ op: "remove", path: "displayName" }], { displayName: undefined }],
    [
      "a first address of a type",
      [{ op: "Add", path: 'emails[type eq "other"].value', value: "o@example.com" }],
      {
        emails: [...person.emails, { type: "other", value: "o@example.com" }],
      },
    ],
  ])("is applied: %s", async (_what, operations, expected) => {
    const id = await addUser("ada@example.com", person);
    const { status, json } = await patch(`/Users/${id}`, ...operations);
    expect(status).toBe(200);
    expect(JSON.parse(JSON.stringify({ ...person, ...expected }))).toEqual(
      Object.fromEntries(Object.entries(json).filter(([name]) => name in person)),
    );
    expect((await send("GET", `/Users/${id}`)).json).toEqual(json);
  });

  it("leaves what an independent library would leave", async () => {
    const group = { schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"], displayName: "g", meta: {} };
    const ids = [await addUser("a@example.com"), await addUser("b@example.com"), await addUser("c@example.com")];
    const [a = "", b = "", c = ""] = ids;
    const id = await addGroup("g", a, b);
    const rounds: { op: string; path?: string; value?: unknown }[][] = [
      [{ op: "Add", path: "members", value: [{ value: c }] }],
      [{ op: "add", path: "members", value: [{ value: c }] }],
      [{ op: "remove", path: `members[value eq "${a}"]` }],
      [{ op: "replace", value: { displayName: "g2" } }],
      [{ op: "replace", path: "members", value: [{ value: a }] }],
      [{ op: "Remove", path: "members", value: [{ value: a }] }],
    ];
    let theirs = { ...group, members: [{ value: a }, { value: b }] };
    for (const operations of rounds) {
      expect((await patch(`/Groups/${id}`, ...operations)).status).toBe(204);
      theirs = scimPatch(theirs as never, operations as never) as never;
      const { json } = await send("GET", `/Groups/${id}`);
      const seen = json.members.map(({ value }: { value: string }) => value).sort();
      expect([json.displayName, seen]).toEqual([
        theirs.displayName,
        [...new Set((theirs.members ?? []).map(({ value }) => value))].sort(),
      ]);
    }
  });

  it.each<[string, unknown, string]>([
    ["no operations", { schemas: [patchSchema] }, "invalidSyntax"],
    ["an unknown operation", { Operations: [{ op: "move", path: "active" }] }, "invalidSyntax"],
    ["an unknown attribute", { Operations: [{ op: "replace", path: "nick", value: "x" }] }, "invalidPath"],
    ["a path that is not one", { Operations: [{ op: "replace", path: "emails[", value: "x" }] }, "invalidPath"],
    ["a filter that is not supported", { Operations: [{ op: "remove", path: 'emails[type sw "w"]' }] }, "invalidPath"],
    ["a removal without a path", { Operations: [{ op: "remove" }] }, "noTarget"],
    ["a value without a path", { Operations: [{ op: "add", value: "x" }] }, "invalidValue"],
    ["a number as a name", { Operations: [{ op: "replace", path: "userName", value: 7 }] }, "invalidValue"],
    ["no userName left", { Operations: [{ op: "remove", path: "userName" }] }, "invalidValue"],
    [
      "the second of two is wrong",
      {
        Operations: [
          { op: "replace", path: "active", value: false },
          { op: "replace", path: "active", value: "perhaps" },
        ],
      },
      "invalidValue",
    ],
    ["a prototype", { Operations: [{ op: "add", path: "__proto__", value: { x: 1 } }] }, "invalidPath"],
  ])("is refused, and changes nothing: %s", async (_what, body, scimType) => {
    const id = await addUser("ada@example.com", person);
    const before = await everything();
    expect(await send("PATCH", `/Users/${id}`, body)).toMatchObject({ status: 400, json: { scimType } });
    expect(await everything()).toEqual(before);
  });
});

describe("a group", () => {
  it("gives its people the role that the settings name, the highest of several", async () => {
    await give({ "Docs Writers": "maintainer", admins: "owner" });
    const [ada, bo] = [await addUser("ada@example.com"), await addUser("bo@example.com")];
    const writers = await addGroup("docs writers", ada, bo);
    expect([await roleOf("ada@example.com"), await roleOf("bo@example.com")]).toEqual(["maintainer", "maintainer"]);
    const admins = await addGroup("Admins", ada);
    expect(await roleOf("ada@example.com")).toBe("owner");
    expect((await send("GET", `/Users/${ada}`)).json.groups).toEqual([
      { value: admins, display: "Admins" },
      { value: writers, display: "docs writers" },
    ]);
    await send("DELETE", `/Groups/${admins}`);
    expect(await roleOf("ada@example.com")).toBe("maintainer");
    await patch(`/Groups/${writers}`, { op: "remove", path: `members[value eq "${ada}"]` });
    expect([await roleOf("ada@example.com"), await roleOf("bo@example.com")]).toEqual(["viewer", "maintainer"]);
    await patch(`/Groups/${writers}`, { op: "replace", path: "displayName", value: "Others" });
    expect(await roleOf("bo@example.com")).toBe("viewer");
    await give({ others: "maintainer" });
    expect(await roleOf("bo@example.com")).toBe("maintainer");
  });

  it("that nobody is in gives no access, if the settings say so", async () => {
    await give({ staff: "viewer" }, null);
    const ada = await addUser("ada@example.com");
    expect(await roleOf("ada@example.com")).toBeUndefined();
    const staff = await addGroup("staff", ada);
    expect(await roleOf("ada@example.com")).toBe("viewer");
    await send("PUT", `/Groups/${staff}`, { displayName: "staff", members: [] });
    expect(await roleOf("ada@example.com")).toBeUndefined();
    expect((await send("GET", `/Users/${ada}`)).json.active).toBe(true);
  });

  it("keeps its role from changes by hand", async () => {
    await give({ staff: "maintainer" });
    await addGroup("staff", await addUser("ada@example.com"));
    const { rows } = await api.pool.query<{ id: string }>("select id from users where email = 'ada@example.com'");
    await expect(changeRole(api.pool, { id: rows[0]?.id ?? "", role: "viewer" }, consoleActor)).rejects.toThrow(
      "A group of the directory gives this role",
    );
    expect(await roleOf("ada@example.com")).toBe("maintainer");
  });

  it("is found by its name, without its members if they are not wanted", async () => {
    const id = await addGroup("Tour Guides", await addUser("ada@example.com"));
    const filter = encodeURIComponent('displayName eq "tour guides"');
    const { json } = await send("GET", `/Groups?excludedAttributes=members&filter=${filter}`);
    expect(json).toMatchObject({ totalResults: 1, Resources: [{ id, displayName: "Tour Guides" }] });
    expect(json.Resources[0]).not.toHaveProperty("members");
    expect((await send("GET", `/Groups?filter=${encodeURIComponent('members eq "x"')}`)).json.scimType).toBe(
      "invalidFilter",
    );
  });

  it.each<[string, unknown, number]>([
    ["no name", { members: [] }, 400],
    ["a stranger in it", { displayName: "g", members: [{ value: "dru_nobody" }] }, 400],
    ["members as text", { displayName: "g", members: ["x"] }, 400],
    ["another's name", { displayName: "TAKEN" }, 409],
  ])("is refused, and changes nothing: %s", async (_what, body, status) => {
    await addGroup("taken");
    const before = await everything();
    expect((await send("POST", "/Groups", body)).status).toBe(status);
    expect(await everything()).toEqual(before);
  });
});

describe("access ends", () => {
  const session = async (email: string) => {
    const { rows } = await api.pool.query<{ id: string }>("select id from users where email = $1", [email]);
    return openSession(api.pool, { userId: rows[0]?.id ?? null, how: "single sign-on", address: null, replaces: null });
  };
  const keyOf = async (createdBy: string) => {
    const { id } = await api.addProject();
    const input = {
      name: "ci",
      projectIds: [id],
      scope: "write",
      expiresInMs: null,
      allowList: null,
      createdBy,
    } as const;
    const made = await createKey(api.pool, input);
    if (made.kind !== "created") throw new Error(made.kind);
    return made;
  };
  const isRevoked = async (id: string) =>
    (await api.pool.query("select revoked_at is not null as is from admin_keys where id = $1", [id])).rows[0]?.is;

  it.each<[string, (id: string) => Promise<Answer>]>([
    ["with active: false", (id) => patch(`/Users/${id}`, { op: "replace", value: { active: false } })],
    ["with the person", (id) => send("DELETE", `/Users/${id}`)],
  ])("%s: sessions, keys and invitations", async (_what, end) => {
    await give({}, "owner");
    const id = await addUser("ada@example.com");
    await addUser("bo@example.com");
    const [opened, key, other] = [
      await session("ada@example.com"),
      await keyOf("Ada@example.com"),
      await keyOf("bo@example.com"),
    ];
    await inviteMember(
      { pool: api.pool, publicUrl },
      { email: "friend@example.com", role: "owner" },
      { name: "ada@example.com", address: null },
    );
    expect((await end(id)).status).toBeLessThan(300);
    expect(await findSession(api.pool, opened)).toBeNull();
    expect([await isRevoked(key.id), await isRevoked(other.id)]).toEqual([true, false]);
    expect((await api.pool.query("select from login_links")).rowCount).toBe(0);
  });

  it("for keys that the person creates at the same moment", async () => {
    await give({}, "maintainer");
    const [{ id: projectId }, { id: viewersId }] = [await api.addProject(), await api.addProject()];
    const create = (db: Queryable, createdBy: string, projectIds: string[]) =>
      createKey(db, { name: "ci", projectIds, scope: "write", expiresInMs: null, allowList: null, createdBy });
    for (const ends of [{ active: false }, { active: true, userName: "ada.king@example.com" }]) {
      const id = await addUser("ada@example.com");
      const leaver = await api.pool.connect();
      try {
        await leaver.query("begin");
        const made = await create(leaver, "ada@example.com", [projectId]);
        const ended = patch(`/Users/${id}`, { op: "replace", value: ends });
        const waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        await Promise.race([ended, expect.poll(async () => (await api.pool.query(waits)).rowCount).toBe(1)]);
        await leaver.query("commit");
        await ended;
        await patch(`/Users/${id}`, { op: "replace", value: { active: false } });
        expect(made.kind === "created" && (await isRevoked(made.id))).toBe(true);
      } finally {
        leaver.release();
      }
      await expect(create(api.pool, "ada@example.com", [viewersId])).rejects.toThrow("Only owners and maintainers");
      await send("DELETE", `/Users/${id}`);
    }
  });

  it.each(["https://idp.test ada", "saml:https://idp.test ada"])(
    "for single sign-on as well (%s), until the directory activates the person again",
    async (identity) => {
      const logIn = () =>
        logInIdentity(
          { pool: api.pool },
          {
            identity: { id: identity, email: "ada@example.com", isEmailVerified: true, name: "Ada" },
            rules: { domains: ["example.com"], defaultRole: "viewer" },
            address: "::1",
            replaces: null,
          },
        );
      const id = await addUser("ada@example.com", { active: false });
      await expect(logIn()).rejects.toThrow("You were removed");
      await patch(`/Users/${id}`, { op: "replace", path: "active", value: "True" });
      await logIn();
      await patch(`/Users/${id}`, { op: "replace", path: "active", value: false });
      await expect(logIn()).rejects.toThrow("You were removed");
      expect(await roleOf("ada@example.com")).toBeUndefined();
    },
  );

  it("for keys of somebody who may not have any, but not before", async () => {
    await give({ writers: "maintainer", admins: "owner" });
    const id = await addUser("ada@example.com");
    const admins = await addGroup("admins", id);
    const writers = await addGroup("writers", id);
    const key = await keyOf("ada@example.com");
    await send("DELETE", `/Groups/${admins}`);
    expect([await roleOf("ada@example.com"), await isRevoked(key.id)]).toEqual(["maintainer", false]);
    await send("DELETE", `/Groups/${writers}`);
    expect([await roleOf("ada@example.com"), await isRevoked(key.id)]).toEqual(["viewer", true]);
  });

  it("for keys of somebody who had another address when they made them", async () => {
    await give({}, "maintainer");
    const id = await addUser("ada@example.com");
    const key = await keyOf("ada@example.com");
    await patch(`/Users/${id}`, { op: "replace", path: "userName", value: "ada.king@example.com" });
    await patch(`/Users/${id}`, { op: "replace", path: "active", value: false });
    expect(await isRevoked(key.id)).toBe(true);
  });

  it("with the old address: an approval stays its author's, and is not the next person's who gets that address", async () => {
    const id = await addUser("ada@example.com");
    const { id: projectId } = await api.addProject();
    await api.pool.query(
      "insert into local_reviews (project_id, number, reviewer, verdict) values ($1, 1, 'ada@example.com', 'approved')",
      [projectId],
    );
    await patch(`/Users/${id}`, { op: "replace", path: "userName", value: "ada.king@example.com" });
    await addUser("ada@example.com");
    const { rows } = await api.pool.query("select reviewer from local_reviews");
    expect(rows).toEqual([{ reviewer: "ada.king@example.com" }]);
  });

  it("never for the last owner, and then nothing is changed", async () => {
    await give({ admins: "owner" });
    const owner = await addUser("owner@emend.test");
    await connectMember(api.pool, { id: owner, email: "owner@emend.test" }, consoleActor);
    const admins = await addGroup("admins", owner);
    const before = await everything();
    for (const refused of [
      await patch(`/Users/${owner}`, { op: "replace", path: "active", value: false }),
      await send("DELETE", `/Users/${owner}`),
      await send("DELETE", `/Groups/${admins}`),
      await patch(`/Groups/${admins}`, { op: "remove", path: "members" }),
      await patch(`/Groups/${admins}`, { op: "replace", path: "displayName", value: "others" }),
      await send("PUT", `/Users/${owner}`, newUser("owner@emend.test", { active: false })),
    ]) {
      expect(refused).toMatchObject({ status: 409, json: { detail: expect.stringContaining("the last owner") } });
    }
    await expect(give({})).rejects.toThrow("the last owner");
    expect(await everything()).toEqual(before);
    await addGroup("owners of another kind", await addUser("second@example.com"));
    await give({ admins: "owner", "owners of another kind": "owner" });
    expect((await send("DELETE", `/Groups/${admins}`)).status).toBe(204);
    expect(await roleOf("owner@emend.test")).toBe("viewer");
  });

  it("by an owner's hand, until the directory activates the person again", async () => {
    const id = await addUser("ada@example.com");
    const { rows } = await api.pool.query<{ id: string }>("select id from users where email = 'ada@example.com'");
    await removeMember(api.pool, rows[0]?.id ?? "", consoleActor);
    expect((await send("GET", `/Users/${id}`)).json.active).toBe(false);
    await addGroup("staff", id);
    await give({ staff: "owner" });
    expect(await roleOf("ada@example.com")).toBeUndefined();
  });
});

describe("a token", () => {
  it("is needed, and works until it is revoked", async () => {
    const [made] = await listDirectoryTokens(api.pool);
    expect(made).toMatchObject({ name: "Okta", createdBy: "console", lastUsedAt: null, revokedAt: null });
    expect((await send("GET", "/Users")).status).toBe(200);
    const [used] = await listDirectoryTokens(api.pool);
    expect(used?.lastUsedAt).toBeInstanceOf(Date);
    const stored = (await api.pool.query("select directory_tokens::text as row from directory_tokens")).rows[0]?.row;
    expect(stored).not.toContain(token.slice(18));
    await revokeDirectoryToken(api.pool, made?.id ?? "", consoleActor);
    const refused = { status: 401, json: { schemas: [errorSchema], status: "401" } };
    expect(await send("GET", "/Users")).toMatchObject(refused);
    const { rows } = await api.pool.query<{ action: string }>(
      "select action from audit_log where action like 'directory%' order by id",
    );
    expect(rows.map(({ action }) => action)).toEqual(["directory_token.created", "directory_token.revoked"]);
    const project = await api.addProject();
    for (const other of ["", "x", await api.addKey(project)]) {
      token = other;
      expect(await send("POST", "/Users", newUser("a@example.com"))).toMatchObject(refused);
    }
    expect((await api.pool.query("select from directory_users")).rowCount).toBe(0);
  });

  it("opens nothing else", async () => {
    const { id } = await api.addProject();
    expect((await api.send(`/v2/agent/${id}/jobs`, { key: token })).status).toBe(401);
  });

  it("names who changed a member in the audit log", async () => {
    await addUser("ada@example.com");
    const [made] = await listDirectoryTokens(api.pool);
    const { rows } = await api.pool.query(
      "select actor, address from audit_log where action = 'member.added' order by id desc limit 1",
    );
    expect(rows).toEqual([{ actor: `directory/${made?.id}`, address: "127.0.0.1" }]);
  });

  it("can send a limited number of requests in a minute", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < requestsPerMinuteMax * 10 && !statuses.includes(429); n++) {
      statuses.push((await send("GET", "/ServiceProviderConfig")).status);
    }
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(requestsPerMinuteMax - 1);
    expect(statuses.at(-1)).toBe(429);
  });

  it("is guessed a limited number of times from an address", async () => {
    token = "guess";
    const statuses: number[] = [];
    for (let n = 0; n < 60 && !statuses.includes(429); n++) statuses.push((await send("GET", "/Users")).status);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe("the service says what it can", () => {
  it("in a list of its schemas, which an independent library reads", async () => {
    const { json } = await send("GET", "/ServiceProviderConfig");
    expect(json).toMatchObject({ patch: { supported: true }, bulk: { supported: false }, filter: { maxResults: 200 } });
    expect((await send("GET", "/ResourceTypes")).json.Resources.map(({ id }: { id: string }) => id)).toEqual([
      "User",
      "Group",
    ]);
    const listed = (await send("GET", "/Schemas")).json;
    expect(listed).toMatchObject({ totalResults: 2, itemsPerPage: 2 });
    for (const schema of listed.Resources) {
      expect((await send("GET", `/Schemas/${schema.id}`)).json).toEqual(schema);
      const known = SCIMMY.Schemas[schema.name as "User" | "Group"].definition.attributes;
      const names = known.map(({ name }: { name: string }) => name);
      for (const { name } of schema.attributes) if (name !== "externalId") expect(names).toContain(name);
    }
    expect((await send("GET", "/Schemas?filter=x")).status).toBe(403);
    expect((await send("GET", "/Schemas/urn:none")).status).toBe(404);
  });

  it("in its resources, which an independent library accepts", async () => {
    const id = await addUser("ada@example.com", {
      name: { givenName: "Ada", familyName: "B" },
      emails: [{ value: "ada@example.com" }],
    });
    await addGroup("staff", id);
    const user = (await send("GET", `/Users/${id}`)).json;
    expect(() => new SCIMMY.Schemas.User(user, "out")).not.toThrow();
    const [group] = (await send("GET", "/Groups")).json.Resources;
    expect(() => new SCIMMY.Schemas.Group(group, "out")).not.toThrow();
  });

  it("in its refusals", async () => {
    expect(await send("POST", "/Bulk", {})).toMatchObject({
      status: 404,
      json: { schemas: [errorSchema], status: "404" },
    });
    const wrong = await api.send("/scim/v2/Users", {
      method: "POST",
      key: token,
      body: "{",
      headers: { "content-type": "application/json" },
    });
    expect([wrong.status, JSON.parse(wrong.text).scimType]).toEqual([400, "invalidSyntax"]);
    const text = await api.send("/scim/v2/Users", {
      method: "POST",
      key: token,
      body: "x",
      headers: { "content-type": "text/plain" },
    });
    expect([text.status, JSON.parse(text.text).schemas]).toEqual([415, [errorSchema]]);
    const long = JSON.stringify(newUser("a@example.com", { displayName: "x".repeat(2 * 2 ** 20) }));
    const large = await api.send("/scim/v2/Users", {
      method: "POST",
      key: token,
      body: long,
      headers: { "content-type": "application/json" },
    });
    expect([large.status, JSON.parse(large.text).status]).toEqual([413, "413"]);
  });
});
