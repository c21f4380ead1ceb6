import { readFile } from "node:fs/promises";
import { readBody } from "@emend/base/network.ts";

/**
 * The identity of the machine that Emend runs on. A cloud gives it out by HTTP, for an hour or so. Google's client does
 * this for itself.
 */

type Settings = Readonly<Record<string, string | undefined>>;
type Fetch = typeof globalThis.fetch;

interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const answerMsMax = 5_000;
const answerBytesMax = 64 * 1024;
/** Renewed this long before it expires. */
const aheadMs = 5 * 60_000;

/** `untilMs`: when it expires, in milliseconds since 1970. */
interface Lent<T> {
  value: T;
  untilMs: number;
}

/** Asks again only when the last answer is about to expire. Callers at the same time share one request. */
function keep<T>(ask: () => Promise<Lent<T>>): () => Promise<T> {
  let asked: Promise<Lent<T>> | undefined;
  let untilMs = 0;
  return async () => {
    if (!asked || Date.now() >= untilMs - aheadMs) {
      untilMs = Number.POSITIVE_INFINITY;
      asked = ask();
      asked.then(
        (lent) => {
          untilMs = lent.untilMs;
        },
        () => {
          asked = undefined;
        },
      );
    }
    return (await asked).value;
  };
}

/**
 * Access keys, the role of a Kubernetes service account, of a container, or of an EC2 instance: the first that is set.
 * A machine's own addresses are never reached through a proxy, so they get Node's fetch.
 */
export function awsCredentials(settings: Settings & { region: string }, fetch: Fetch): () => Promise<AwsCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  if (accessKeyId && secretAccessKey) {
    const sessionToken = settings.AWS_SESSION_TOKEN;
    return async () => ({ accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) });
  }
  if (settings.AWS_WEB_IDENTITY_TOKEN_FILE) return keep(() => assumeRole(settings, fetch));
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: full, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path } = settings;
  if (full ?? path) return keep(() => askContainer(settings, full ?? `http://169.254.170.2${path}`));
  return keep(() => askInstance(settings));
}

async function assumeRole(settings: Settings & { region: string }, fetch: Fetch): Promise<Lent<AwsCredentials>> {
  const { region } = settings;
  const usual = `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  const text = await answerOf(fetch, `${settings.AWS_ENDPOINT_URL_STS ?? usual}/`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      Action: "AssumeRoleWithWebIdentity",
      Version: "2011-06-15",
      RoleArn: settings.AWS_ROLE_ARN ?? "",
      RoleSessionName: "emend",
      // Kubernetes writes this file again before its token expires.
      WebIdentityToken: await readToken(settings.AWS_WEB_IDENTITY_TOKEN_FILE),
    }).toString(),
  });
  // XML without attributes: each value is between its tags.
  const tagged = (tag: string) => text.match(new RegExp(`<${tag}>([^<]+)</${tag}>`))?.[1];
  return readCredentials({
    AccessKeyId: tagged("AccessKeyId"),
    SecretAccessKey: tagged("SecretAccessKey"),
    Token: tagged("SessionToken"),
    Expiration: tagged("Expiration"),
  });
}

/** Amazon ECS, or EKS with pod identities. */
async function askContainer(settings: Settings, url: string): Promise<Lent<AwsCredentials>> {
  const file = settings.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const authorization = file ? await readToken(file) : settings.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const headers: Record<string, string> = authorization ? { authorization } : {};
  return readCredentials(parse(await answerOf(globalThis.fetch, url, { headers })));
}

/** An EC2 instance's metadata service, by its second version. */
async function askInstance(settings: Settings): Promise<Lent<AwsCredentials>> {
  const url = `${settings.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? "http://169.254.169.254"}`.replace(/\/+$/, "");
  try {
    const lifetime = { "x-aws-ec2-metadata-token-ttl-seconds": "300" };
    const token = await answerOf(globalThis.fetch, `${url}/latest/api/token`, { method: "PUT", headers: lifetime });
    const headers = { "x-aws-ec2-metadata-token": token };
    const roles = `${url}/latest/meta-data/iam/security-credentials/`;
    const role = (await answerOf(globalThis.fetch, roles, { headers })).trim().split("\n")[0] ?? "";
    return readCredentials(parse(await answerOf(globalThis.fetch, `${roles}${encodeURIComponent(role)}`, { headers })));
  } catch (cause) {
    const how =
      "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role";
    throw new Error(`no AWS credentials were found. ${how} (${wordsOf(cause)})`, { cause });
  }
}

function readCredentials(answer: Record<string, unknown>): Lent<AwsCredentials> {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer;
  if (typeof AccessKeyId !== "string" || typeof SecretAccessKey !== "string" || typeof Token !== "string") {
    throw new Error("the answer has no AWS credentials");
  }
  const untilMs = Date.parse(String(Expiration));
  return {
    value: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: Token },
    untilMs: Number.isNaN(untilMs) ? 0 : untilMs,
  };
}

const azureResource = "https://cognitiveservices.azure.com";

/** A token of Microsoft Entra: of a workload identity, a service principal, an app service or a virtual machine. */
export function azureToken(settings: Settings, fetch: Fetch): () => Promise<string> {
  const { AZURE_FEDERATED_TOKEN_FILE: file, AZURE_CLIENT_SECRET: secret } = settings;
  if (settings.AZURE_TENANT_ID && (file || secret)) return keep(() => askEntra(settings, fetch));
  return keep(() => askManagedIdentity(settings));
}

async function askEntra(settings: Settings, fetch: Fetch): Promise<Lent<string>> {
  const authority = (settings.AZURE_AUTHORITY_HOST ?? "https://login.microsoftonline.com").replace(/\/+$/, "");
  const file = settings.AZURE_FEDERATED_TOKEN_FILE;
  const proof: Record<string, string> = file
    ? {
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await readToken(file),
      }
    : { client_secret: settings.AZURE_CLIENT_SECRET ?? "" };
  const text = await answerOf(fetch, `${authority}/${settings.AZURE_TENANT_ID}/oauth2/v2.0/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: settings.AZURE_CLIENT_ID ?? "",
      scope: `${azureResource}/.default`,
      ...proof,
    }).toString(),
  });
  return readAzureToken(parse(text));
}

async function askManagedIdentity(settings: Settings): Promise<Lent<string>> {
  const { IDENTITY_ENDPOINT: app, IDENTITY_HEADER: proof, AZURE_CLIENT_ID: client } = settings;
  const machine = (settings.AZURE_POD_IDENTITY_AUTHORITY_HOST ?? "http://169.254.169.254").replace(/\/+$/, "");
  const url = new URL(app ?? `${machine}/metadata/identity/oauth2/token`);
  url.searchParams.set("api-version", app ? "2019-08-01" : "2018-02-01");
  url.searchParams.set("resource", azureResource);
  if (client) url.searchParams.set("client_id", client);
  const headers: Record<string, string> = app ? { "x-identity-header": proof ?? "" } : { metadata: "true" };
  try {
    return readAzureToken(parse(await answerOf(globalThis.fetch, url.href, { headers })));
  } catch (cause) {
    const how = "Set AZURE_API_KEY, or give the machine a managed identity";
    throw new Error(`no Azure identity was found. ${how} (${wordsOf(cause)})`, { cause });
  }
}

function readAzureToken({ access_token, expires_on, expires_in }: Record<string, unknown>): Lent<string> {
  if (typeof access_token !== "string") throw new Error("the answer has no token");
  const untilMs = expires_on === undefined ? Date.now() + Number(expires_in) * 1000 : Number(expires_on) * 1000;
  return { value: access_token, untilMs: Number.isNaN(untilMs) ? 0 : untilMs };
}

async function readToken(file: string | undefined): Promise<string> {
  return (await readFile(file ?? "", "utf8")).trim();
}

async function answerOf(fetch: Fetch, url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(answerMsMax) });
  const text = (await readBody(response.body, answerBytesMax)).toString();
  // Not the answer: it may contain a credential.
  if (response.status !== 200) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return text;
}

function parse(text: string): Record<string, unknown> {
  const answer: unknown = JSON.parse(text);
  return answer !== null && typeof answer === "object" ? (answer as Record<string, unknown>) : {};
}

function wordsOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
