import DOMPurify from 'dompurify';
import { Marked } from 'marked';
import { visiblePieces } from '../../components/visible-text.ts';

const marked = new Marked({
  gfm: true,
  renderer: {
    // What a model writes as HTML is text like any other.
    html: ({ raw }) => escaped(raw),
    // A page asks no other host for anything.
    image: ({ href, text }) =>
      escaped(`[image not loaded: ${text === '' ? href : `${text}, ${href}`}]`),
    // The page has headings of its own.
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
  // A link says where it leads, whatever its text says.
  node.append(` (${host})`);
});

/** Turns Markdown that a model wrote into elements of which none runs, loads or hides anything. */
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

/** Names characters that would not be seen, or would turn what is around them. */
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
