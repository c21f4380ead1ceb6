import { unseenCharacters } from "@emend/contract";
import type { Identity } from "./single-sign-on.ts";

const nameCodePointsMax = 200;

/** Who it is, of what the provider says of them. An address is judged where somebody is admitted by it. */
export function readIdentity(issuer: string, subject: string, about: Readonly<Record<string, unknown>>): Identity {
  const email = typeof about.email === "string" ? about.email : "";
  return {
    id: `${issuer} ${subject}`,
    email,
    isEmailVerified: about.email_verified === true || about.email_verified === "true",
    name: cleanName(about.name) || email,
  };
}

/** One line that shows as it reads and that the database takes: nobody is kept out by how their name is written. */
function cleanName(name: unknown): string {
  if (typeof name !== "string") return "";
  const line = name.toWellFormed().replace(unseenCharacters, "").replace(/\s+/g, " ").trim();
  return [...line].slice(0, nameCodePointsMax).join("").trimEnd();
}
