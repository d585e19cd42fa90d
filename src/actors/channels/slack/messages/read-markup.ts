/** Matches a mention or link in angle brackets, and escaped characters outside of them. */
const markup = /<([^<>]*)>|&(?:lt|gt|amp);/g;

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

/** Maximum users of one message whose names are looked up. */
const mostNames = 10;

export interface MarkupPorts {
  /** The bot's own user id; its mention is removed. */
  botUserId: string;
  nameOf: (userId: string) => Promise<string>;
}

/**
 * Converts a message from Slack's markup to the text that its author sees: names for users and channels, URLs for
 * links, without the mention of the agent.
 */
export async function readMarkup(
  text: string,
  { botUserId, nameOf }: MarkupPorts,
): Promise<string> {
  const names = await namesIn(text, { botUserId, nameOf });
  const shown = text.replaceAll(markup, (whole, inner: string | undefined) => {
    if (inner === undefined) return entities[whole] ?? whole;
    const [target = '', label] = inner.split('|', 2);
    if (target === `@${botUserId}`) return '';
    return unescaped(shownFor(target, label, names));
  });
  return shown.replaceAll(/[ \t]{2,}/g, ' ').trim();
}

function shownFor(target: string, label: string | undefined, names: Map<string, string>): string {
  switch (target[0]) {
    case '@':
      return `@${names.get(target.slice(1)) ?? label ?? target.slice(1)}`;
    case '#':
      return `#${label ?? target.slice(1)}`;
    case '!':
      return label ?? `@${target.slice(1)}`;
    default:
      return target.replace(/^mailto:/, '');
  }
}

async function namesIn(text: string, ports: MarkupPorts): Promise<Map<string, string>> {
  const ids = [...text.matchAll(/<@([A-Z0-9]+)/g)].map(([, id = '']) => id);
  const others = [...new Set(ids)].filter((id) => id !== ports.botUserId).slice(0, mostNames);
  return new Map(
    await Promise.all(others.map(async (id) => [id, await ports.nameOf(id)] as const)),
  );
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:lt|gt|amp);/g, (entity) => entities[entity] ?? entity);
}
