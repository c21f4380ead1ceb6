import { AppError } from "../../errors.ts";

/** The reasons of RFC 7644, section 3.12, that Emend gives. */
export type ScimType = "invalidFilter" | "invalidPath" | "invalidSyntax" | "invalidValue" | "noTarget" | "uniqueness";

/** A refusal in the words of SCIM. */
export class ScimFault extends AppError {
  readonly scimType: ScimType;

  constructor(scimType: ScimType, publicMessage: string) {
    super(scimType === "uniqueness" ? "conflict" : "invalid_request", { publicMessage });
    this.scimType = scimType;
  }
}
