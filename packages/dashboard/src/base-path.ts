/**
 * The public URL's path with a trailing slash. Derived from where this file was loaded (`<base>/app/assets/…`), so that
 * the same build works at any path. In development there is none.
 */
export const basePath = import.meta.env.PROD ? new URL(/* @vite-ignore */ "../../", import.meta.url).pathname : "/";
export const appPath = `${basePath}app`;
