import type { Workspace } from '../workspace/workspace.ts';

/** Renders Slack markup as users see it: names for IDs, text for links and times. */
export function markupWords(text: string, workspace: Workspace): string {
  return text
    .replaceAll(/<([^<>]*)>/g, (_, inside: string) => special(inside, workspace))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function special(inside: string, workspace: Workspace): string {
  const [what = '', label] = inside.split('|', 2);
  if (what.startsWith('@')) return `@${workspace.user(what.slice(1))?.name ?? what.slice(1)}`;
  if (what.startsWith('#')) return `#${workspace.channel(what.slice(1))?.name ?? what.slice(1)}`;
  if (what.startsWith('!date^')) return label ?? what;
  if (what.startsWith('!')) return `@${label ?? what.slice(1)}`;
  return label === undefined || label === what ? what : `${label} (${what})`;
}
