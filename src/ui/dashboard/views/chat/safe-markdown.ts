import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { visiblePieces } from '../../components/visible-text.ts';

const marked = new Marked({
  gfm: true,
  renderer: {
    // HTML from a model is shown as text.
    html: ({ raw }) => escaped(raw),
    // The page must not send requests to other hosts.
    image: ({ href, text }) =>
      escaped(`[image not loaded: ${text === '' ? href : `${text}, ${href}`}]`),
    // Headings in a model's text must not be headings of the page.
    heading({ tokens }) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
    },
    checkbox: ({ checked }) => (checked ? '[x] ' : '[ ] '),
  },
});

const tags =
  'a blockquote br code del em hr li ol p pre strong table tbody td th thead tr ul'.split(' ');

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  const host = hostOf(node.getAttribute('href') ?? '');
  if (host === null) {
    node.removeAttribute('href');
    return;
  }
  node.setAttribute('rel', 'noopener noreferrer nofollow');
  node.setAttribute('target', '_blank');
  // A link shows its host, regardless of its text.
  node.append(` (${host})`);
});

/** Converts a model's Markdown to elements that cannot run, load or hide anything. */
export function safeMarkdown(text: string): DocumentFragment {
  const html = marked.parse(seen(text), { async: false });
  return purifier.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: ['href', 'start'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}

/** Replaces invisible and direction-changing characters with their names. */
function seen(text: string): string {
  return visiblePieces(text.replaceAll('\r\n', '\n').replaceAll('\t', '    '))
    .map((piece) => (piece.kind === 'hidden' ? `[${piece.text}]` : piece.text))
    .join('');
}

function hostOf(href: string): string | null {
  if (!URL.canParse(href)) return null;
  const { host, pathname, protocol } = new URL(href);
  return protocol === 'mailto:' ? pathname : host;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
