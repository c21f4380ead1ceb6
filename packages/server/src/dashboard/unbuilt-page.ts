/** What a checkout shows before its first build. */
export function unbuiltPage(basePath: string): string {
  const home = `${basePath}/`.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Build the dashboard · Emend</title></head>
<body>
<h1>The dashboard is not built yet</h1>
<p>In the checkout that this server runs from, type this, and start the server again:</p>
<pre><code>npm run build:dashboard</code></pre>
<p>The API works without it, and so do the <a href="${home}">pull requests of the local forge</a>.</p>
</body>
</html>
`;
}
