import { compile } from 'html-to-text';
import type { Apart } from './run-apart.ts';

/** A page, and where it comes from. */
export interface HtmlPage {
  html: string;
  /** What the addresses of its links are taken from. */
  url: string;
  /** Whether everything beside its main part is kept. */
  isWhole: boolean;
}

/** What a reader of the main part does not look for. */
const besideMain = ['nav', 'footer', 'aside', 'form', 'button', 'dialog'];

const never = ['img', 'svg', 'canvas', 'iframe', 'object', 'template', 'noscript'];

/** Returns the text of an HTML page: its title, and its main part or the whole of it; runs in a worker. */
export function htmlToText({ html, url, isWhole }: HtmlPage): Apart {
  const skipped = isWhole ? never : [...never, ...besideMain];
  const toText = compile({
    wordwrap: false,
    baseElements: {
      selectors: isWhole ? ['body'] : ['main', '[role=main]', 'article', 'body'],
      orderBy: 'selectors',
    },
    limits: { maxBaseElements: 1, maxDepth: 200, maxInputLength: 8 * 1024 * 1024 },
    selectors: [
      ...skipped.map((selector) => ({ selector, format: 'skip' })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector, level) => heading(selector, level)),
      {
        selector: 'a',
        options: { baseUrl: url, ignoreHref: false, hideLinkHrefIfSameAsText: true },
      },
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
    ],
    formatters: {
      // The builder has no way to put one mark before a block but as its leading text.
      markedHeading(element, walk, builder, { mark }) {
        builder.openBlock({ leadingLineBreaks: 2 });
        builder.addInline(`${String(mark)} `);
        walk(element.children, builder);
        builder.closeBlock({ trailingLineBreaks: 2 });
      },
    },
  });
  const title = titleOf(html);
  const body = toText(html);
  return { text: title === '' ? body : `# ${title}\n\n${body}` };
}

function heading(selector: string, level: number) {
  const mark = '#'.repeat(level + 1);
  return { selector, format: 'markedHeading', options: { mark } as object };
}

const readTitle = compile({
  wordwrap: false,
  baseElements: { selectors: ['title'], returnDomByDefault: false },
  limits: { maxBaseElements: 1, maxDepth: 200 },
});

function titleOf(html: string): string {
  return readTitle(html.slice(0, 100_000)).replace(/\s+/g, ' ').trim().slice(0, 300);
}
