import { Type } from "typebox";
import type { ApiClient } from "../api-client.ts";
import { basicAuthorization } from "../credential-id.ts";
import type { ForgeSettings } from "../forge-project.ts";

/** What the functions on one repository of Bitbucket Cloud share. */
export interface BitbucketRepository {
  api: ApiClient;
  /** Without a slash at its end. */
  apiUrl: string;
  settings: ForgeSettings;
  workspace: string;
  slug: string;
  /** `/repositories/<workspace>/<slug>`. */
  path: string;
}

/** Somebody's account; an access token has one too. Nicknames are not unique there, so people are known by their UUID. */
export const Account = Type.Object({
  uuid: Type.Optional(Type.String()),
  display_name: Type.Optional(Type.String()),
});

/** An API token is somebody's and goes with their email address; an access token belongs to a repository or workspace. */
const apiToken = /^([^\s:@]+@[^\s:@]+):(.+)$/;

/** How a credential is sent to the API, and to git, which takes a fixed name in place of the address. */
export function authorizationsOf(credential: string): { api: string; git: string } {
  const [, email, token] = apiToken.exec(credential) ?? [];
  if (email === undefined || token === undefined) {
    return { api: `Bearer ${credential}`, git: basicAuthorization("x-token-auth", credential) };
  }
  return { api: basicAuthorization(email, token), git: basicAuthorization("x-bitbucket-api-token-auth", token) };
}

/*
 * Bitbucket shows HTML as the text it is, comments too. What nobody shall see goes into a link definition that nothing
 * uses, as CommonMark leaves those out. Words that look like one of Emend's are kept from passing for it.
 */
const hidden = /^<!-- (emend:[\w=-]+) -->$/gm;
const definition = /^\[\/\/\]: # \((emend:[\w=-]+)\)[ \t\r]*$/gm;

export function withDefinitions(text: string): string {
  return text.replaceAll(/\[\/\/\]: # \(emend:/g, "[//]: # ( emend:").replaceAll(hidden, "[//]: # ($1)");
}

export function withComments(text: string): string {
  return text.replaceAll(definition, "<!-- $1 -->");
}
