import type { Token, Tokens } from 'marked';

/** Returns the text of a token without its markup, on one line. */
export function plainInline(token: Token | undefined): string {
  if (token === undefined) return '';
  return textOf(token).replaceAll(/\s+/g, ' ').trim();
}

function textOf(token: Token): string {
  if (token.type === 'html') return ' ';
  if (token.type === 'br') return ' ';
  const inner = 'tokens' in token ? token.tokens : undefined;
  if (inner !== undefined && inner.length > 0) return inner.map(textOf).join('');
  return unescaped((token as Tokens.Text).text);
}

const entities: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** Replaces the entities of HTML that Markdown may contain. */
export function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
