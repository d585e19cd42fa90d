import { hash } from 'node:crypto';
import { Html, html } from './html.ts';

/** The agent's data from its card. */
export interface PageOwner {
  name: string;
  version: string;
  description?: string;
}

const style = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#f7f6f3, #131312);
  --surface: light-dark(#ffffff, #1b1b19);
  --line: light-dark(#e4e1d9, #2d2c29);
  --ink: light-dark(#1b1a17, #edebe5);
  --ink-2: light-dark(#5d5a52, #aaa69b);
  --hold: light-dark(#a85b00, #f0b153);
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", "JetBrains Mono", "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--paper); color: var(--ink); font: 15px/24px var(--sans); padding: 48px 16px; }
main { max-width: 560px; margin: 0 auto; overflow-wrap: anywhere; }
header { display: flex; align-items: center; gap: 8px; font: 600 13px/20px var(--sans); margin-bottom: 32px; }
svg { width: 16px; height: 16px; flex: none; }
h1 { font: 600 28px/36px var(--sans); letter-spacing: -0.015em; unicode-bidi: isolate; }
p { color: var(--ink-2); margin-top: 8px; unicode-bidi: isolate; }
nav { margin-top: 32px; background: var(--surface); border: 1px solid var(--line); border-radius: 10px; }
nav a { display: block; padding: 12px 16px; color: var(--ink); text-decoration: none; }
nav a + a { border-top: 1px solid var(--line); }
nav a:first-child { border-radius: 9px 9px 0 0; }
nav a:last-child { border-radius: 0 0 9px 9px; }
nav code { font: 12px/16px var(--mono); color: var(--ink-2); display: block; }
a:hover b { text-decoration: underline; }
a:focus-visible { outline: 2px solid var(--ink); outline-offset: -3px; }
b { font-weight: 600; }
footer { margin-top: 24px; font: 13px/20px var(--sans); color: var(--ink-2); }
`;

const mark = new Html(
  '<svg viewBox="0 0 18 18" aria-hidden="true"><rect x="1" y="1" width="16" height="16" rx="4" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M5.5 4.5v9M12.5 4.5v9M5.5 9h7" stroke="var(--hold)" stroke-width="2" stroke-linecap="round"/></svg>',
);

/** The page's Content-Security-Policy: only its own style. */
export const frontPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const links = [
  ['Who it is and what it can do', '/.well-known/agent-card.json'],
  ['How to call it', '/openapi.json'],
  ['How it is', '/healthz'],
] as const;

/**
 * Renders the page that browsers receive at `/` (docs/contract/transports.md). Links are relative, because a proxy may
 * serve the page under a path.
 */
export function frontPage({ name, version, description }: PageOwner): string {
  const items = links
    .map(([says, path]) => html`<a href=".${path}"><b>${says}</b> <code>${path}</code></a>`.text)
    .join('\n');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name} · Holdpoint</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<header>${mark} Holdpoint</header>
<h1>${name}</h1>
${description === undefined ? '' : html`<p dir="auto">${description}</p>`}
<p>An agent, version ${version}. Programs call it over A2A; a tool call that needs a person waits until the right one releases it.</p>
<nav aria-label="What there is to read">
${new Html(items)}
</nav>
<footer>To talk to it: <code>holdpoint task send "…"</code>, or any A2A client with the address of this page.</footer>
</main>
</body>
</html>
`.text;
}
