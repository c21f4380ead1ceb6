/** The codes of OAuth and OpenID Connect, in our words. */
const reasons: Readonly<Record<string, string>> = {
  access_denied: "access was denied or cancelled",
  account_selection_required: "it asks you to choose an account first",
  consent_required: "it asks for your consent first",
  interaction_required: "it asks something of you first",
  invalid_client: "it does not know the client id and secret that are configured",
  invalid_grant: "the login was already used or has expired",
  invalid_request: "it did not understand the request",
  invalid_scope: "it does not tell email addresses to this client",
  login_required: "it asks you to log in there first",
  server_error: "it has a fault of its own",
  temporarily_unavailable: "it is busy; try again in a moment",
  unauthorized_client: "the client that is configured may not do this",
  unsupported_response_type: "it does not offer the authorization code flow",
};

/** Never the code itself where it is not one of these: it comes by an address that anybody may have written. */
export function reasonOf(code: unknown): string {
  const known = typeof code === "string" && Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return known ?? "it gave no reason that is known here";
}
