import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** An authenticator in software, for answers that no browser would give. */
export interface SoftPasskey {
  id: string;
  /** Answers a registration's options. */
  register(challenge: string, changed?: Partial<Told>): object;
  /** Answers a login's options. */
  answer(challenge: string, changed?: Partial<Told>): object;
}

/** What it says. Each can be a lie. */
interface Told {
  origin: string;
  rpId: string;
  type: string;
  counter: number;
  isVerified: boolean;
  userHandle: string;
  key: KeyObject;
  /** The id of somebody else's. */
  id: string;
}

const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString("base64url");

export function createSoftPasskey(usual: { origin: string; rpId: string }): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = base64(randomBytes(32));
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const told = (changed: Partial<Told>): Told => ({
    ...usual,
    type: "",
    counter: 0,
    isVerified: true,
    userHandle: "",
    key: privateKey,
    id,
    ...changed,
  });
  const authData = ({ rpId, isVerified, counter }: Told, credential: Buffer) => {
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (credential.length > 0 ? 0x40 : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), head, credential]);
  };
  const clientData = (type: string, challenge: string, { origin }: Told) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const shell = (says: Told, response: object) => ({
    id: says.id,
    rawId: says.id,
    type: "public-key",
    clientExtensionResults: {},
    response,
  });

  return {
    id,
    register(challenge, changed = {}) {
      const says = told(changed);
      const rawId = Buffer.from(says.id, "base64url");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      // A COSE key: EC2, ES256, P-256, x and y.
      const key = Buffer.concat([
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y, "base64url"),
      ]);
      const data = authData(says, Buffer.concat([Buffer.alloc(16), length, rawId, key]));
      const size = Buffer.alloc(2);
      size.writeUInt16BE(data.length);
      // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestation = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746159", "hex"),
        size,
        data,
      ]);
      const said = clientData(says.type || "webauthn.create", challenge, says);
      return shell(says, { clientDataJSON: base64(said), attestationObject: base64(attestation) });
    },
    answer(challenge, changed = {}) {
      const says = told(changed);
      const data = authData(says, Buffer.alloc(0));
      const said = clientData(says.type || "webauthn.get", challenge, says);
      const signature = sign("sha256", Buffer.concat([data, createHash("sha256").update(said).digest()]), says.key);
      return shell(says, {
        clientDataJSON: base64(said),
        authenticatorData: base64(data),
        signature: base64(signature),
        ...(says.userHandle && { userHandle: base64(says.userHandle) }),
      });
    },
  };
}
