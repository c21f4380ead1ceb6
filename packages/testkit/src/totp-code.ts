import { Secret, TOTP } from "otpauth";

/** The code that an authenticator app shows at a time step: by default `stepsAhead` of now. Each step's code works once. */
export function totpCode(key: string, stepsAhead = 0, step = Math.floor(Date.now() / 30_000) + stepsAhead): string {
  return new TOTP({ secret: Secret.fromBase32(key) }).generate({ timestamp: step * 30_000 });
}
