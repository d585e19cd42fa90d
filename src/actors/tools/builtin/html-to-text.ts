import { compile } from 'html-to-text';
import type { Apart } from './run-apart.ts';

/** A page and its URL. */
export interface HtmlPage {
  html: string;
  /** Base URL of its links. */
  url: string;
  /** True keeps content outside the main part. */
  isWhole: boolean;
}

/** Elements outside the main content. */
const besideMain = ['nav', 'footer', 'aside', 'form', 'button', 'dialog'];

const never = ['img', 'svg', 'canvas', 'iframe', 'object', 'template', 'noscript'];

/** Converts an HTML page to text: its title, and its main part or all of it; runs in a worker. */
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
      // The builder can put a single mark before a block only as its leading text.
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
