/** What a browser keeps between leaving for the provider and coming back, sealed. */
export interface Journey {
  state: string;
  nonce: string;
  verifier: string;
  landsOn: string;
  expiresAtMs: number;
}

/** What it is sealed for. */
export const journeyContext = "single sign-on journey";
export const journeyMinutes = 10;
