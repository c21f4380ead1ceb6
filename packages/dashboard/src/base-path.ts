/**
 * The path of the public URL, ending in a slash. Known from where this file was loaded (`<base>/app/assets/…`), so that
 * the same build works below whichever path it is served; in development there is none.
 */
export const basePath = import.meta.env.PROD ? new URL(/* @vite-ignore */ "../../", import.meta.url).pathname : "/";
export const appPath = `${basePath}app`;
