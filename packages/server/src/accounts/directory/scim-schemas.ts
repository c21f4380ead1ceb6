/** What a client can read about `/scim/v2` itself (RFC 7643, sections 5 to 7): only what Emend does. */
export const urns = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  list: "urn:ietf:params:scim:api:messages:2.0:ListResponse",
  error: "urn:ietf:params:scim:api:messages:2.0:Error",
  schema: "urn:ietf:params:scim:schemas:core:2.0:Schema",
  resourceType: "urn:ietf:params:scim:schemas:core:2.0:ResourceType",
  config: "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig",
} as const;

export const countMax = 200;

export const serviceProviderConfig = {
  schemas: [urns.config],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: countMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "A directory token, which an owner creates in Emend.",
      primary: true,
    },
  ],
};

export const resourceTypes = [
  { schemas: [urns.resourceType], id: "User", name: "User", endpoint: "/Users", schema: urns.user },
  { schemas: [urns.resourceType], id: "Group", name: "Group", endpoint: "/Groups", schema: urns.group },
];

interface Traits {
  required?: boolean;
  caseExact?: boolean;
  multiValued?: boolean;
  mutability?: "readOnly" | "readWrite" | "immutable";
  uniqueness?: "none" | "server";
  referenceTypes?: readonly string[];
  subAttributes?: readonly object[];
}

function attribute(name: string, type: string, description: string, traits: Traits = {}): object {
  return {
    name,
    type,
    description,
    multiValued: false,
    required: false,
    ...(type !== "boolean" && type !== "complex" && { caseExact: false }),
    mutability: "readWrite",
    returned: "default",
    ...(type !== "boolean" && { uniqueness: "none" }),
    ...traits,
  };
}

const nameParts = ["formatted", "givenName", "familyName", "middleName", "honorificPrefix", "honorificSuffix"];

export const schemas = [
  {
    schemas: [urns.schema],
    id: urns.user,
    name: "User",
    description: "A person",
    attributes: [
      attribute("userName", "string", "The name that identifies the person, usually an email address.", {
        required: true,
        uniqueness: "server",
      }),
      attribute("externalId", "string", "The provider's id.", { caseExact: true }),
      attribute("name", "complex", "The parts of the name.", {
        subAttributes: nameParts.map((part) => attribute(part, "string", `The part ${part}.`)),
      }),
      attribute("displayName", "string", "The name that Emend shows."),
      attribute("emails", "complex", "Email addresses. Emend uses the primary one, else the one of type work.", {
        multiValued: true,
        subAttributes: [
          attribute("value", "string", "The address."),
          attribute("type", "string", "What it is for: work, home or other."),
          attribute("primary", "boolean", "Whether it is the preferred one."),
        ],
      }),
      attribute("active", "boolean", "Whether the person has access."),
      attribute("groups", "complex", "The person's groups.", {
        multiValued: true,
        mutability: "readOnly",
        subAttributes: [
          attribute("value", "string", "The group's id.", { mutability: "readOnly" }),
          attribute("display", "string", "The group's name.", { mutability: "readOnly" }),
        ],
      }),
    ],
  },
  {
    schemas: [urns.schema],
    id: urns.group,
    name: "Group",
    description: "A group of people. Emend's settings say which role it gives.",
    attributes: [
      attribute("displayName", "string", "The name.", { required: true, uniqueness: "server" }),
      attribute("externalId", "string", "The provider's id.", { caseExact: true }),
      attribute("members", "complex", "The group's people.", {
        multiValued: true,
        subAttributes: [
          attribute("value", "string", "The person's id.", { mutability: "immutable" }),
          attribute("display", "string", "The person's userName.", { mutability: "readOnly" }),
        ],
      }),
    ],
  },
];
