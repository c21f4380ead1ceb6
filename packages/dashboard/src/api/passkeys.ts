import { request } from "./request.ts";

/** What the server sends for `navigator.credentials`, with bytes as base64url. */
interface Descriptor {
  id: string;
  type: "public-key";
}
interface CreationOptions {
  challenge: string;
  rp: PublicKeyCredentialRpEntity;
  user: { id: string; name: string; displayName: string };
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout: number;
  excludeCredentials: Descriptor[];
  authenticatorSelection: AuthenticatorSelectionCriteria;
}
interface RequestOptions {
  challenge: string;
  rpId: string;
  timeout: number;
  allowCredentials?: Descriptor[];
  userVerification: UserVerificationRequirement;
}

/** False in old browsers, and on pages without https. */
export const hasPasskeys = "PublicKeyCredential" in window;

/** Makes a passkey on this device, and returns what the server checks. */
export async function createPasskey(optionsPath: string, body: unknown = {}) {
  const { challenge, rp, user, pubKeyCredParams, timeout, excludeCredentials, authenticatorSelection } =
    await request<CreationOptions>(optionsPath, { body });
  const publicKey = {
    rp,
    pubKeyCredParams,
    timeout,
    authenticatorSelection,
    challenge: fromBase64(challenge),
    user: { ...user, id: fromBase64(user.id) },
    excludeCredentials: excludeCredentials.map(describe),
  };
  const made = await asked(() => navigator.credentials.create({ publicKey }));
  const { clientDataJSON, attestationObject } = made.response as AuthenticatorAttestationResponse;
  return {
    ...idOf(made),
    response: { clientDataJSON: toBase64(clientDataJSON), attestationObject: toBase64(attestationObject) },
  };
}

/** Asks for a passkey, and returns what the server checks. */
export async function askPasskey(optionsPath: string, body: unknown = {}) {
  const { challenge, allowCredentials, rpId, timeout, userVerification } = await request<RequestOptions>(optionsPath, {
    body,
  });
  const publicKey = {
    rpId,
    timeout,
    userVerification,
    challenge: fromBase64(challenge),
    ...(allowCredentials && { allowCredentials: allowCredentials.map(describe) }),
  };
  const used = await asked(() => navigator.credentials.get({ publicKey }));
  const { clientDataJSON, authenticatorData, signature, userHandle } = used.response as AuthenticatorAssertionResponse;
  return {
    ...idOf(used),
    response: {
      clientDataJSON: toBase64(clientDataJSON),
      authenticatorData: toBase64(authenticatorData),
      signature: toBase64(signature),
      ...(userHandle && { userHandle: toBase64(userHandle) }),
    },
  };
}

const words: Readonly<Record<string, string>> = {
  NotAllowedError: "No passkey was used. Try again, or choose another way.",
  InvalidStateError: "This device has a passkey for your account already.",
  SecurityError: "Passkeys work only at the address that Emend is configured for. Open that address.",
};

async function asked(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await ask().catch((error: unknown) => {
    const name = error instanceof DOMException ? error.name : "";
    throw new Error(words[name] ?? "The browser could not use a passkey. Try again, or choose another way.");
  });
  if (credential instanceof PublicKeyCredential) return credential;
  throw new Error(words.NotAllowedError);
}

const describe = ({ id, type }: Descriptor) => ({ type, id: fromBase64(id) });
const idOf = ({ id, rawId, type }: PublicKeyCredential) => ({
  id,
  rawId: toBase64(rawId),
  type,
  clientExtensionResults: {},
});

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function toBase64(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
