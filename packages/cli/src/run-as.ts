/** How the person would type another command: like this one. */
export function runAs(env: NodeJS.ProcessEnv, command: string): string {
  if (env.npm_package_name !== "emend-workspace" || !env.npm_lifecycle_event) return `emend ${command}`;
  return command.startsWith("serve") ? `npm start -- ${command.slice("serve ".length)}` : `npm run emend -- ${command}`;
}

/** A word quoted for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
