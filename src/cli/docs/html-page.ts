import { Marked, type Tokens } from 'marked';
import type { DocPage } from './doc-pages.ts';
import { docSections } from './doc-sections.ts';
import { linkedPage } from './find-page.ts';
import type { DocMatch } from './search-pages.ts';

/** Renders a page as HTML with a list of all pages. Text is escaped; no script, and nothing of another host. */
export function htmlPage(pages: readonly DocPage[], page: DocPage): string {
  const anchors = docSections(page.text).map(({ anchor }) => anchor);
  const body = createMarked(pages, page, anchors).parse(page.text, { async: false });
  return layout(pages, { title: page.title, body, current: page.name });
}

/** Renders the list of all pages with their summaries. */
export function htmlIndex(pages: readonly DocPage[]): string {
  const rows = pages.map(
    (page) =>
      `<dt><a href="${hrefOf(page)}">${escaped(page.name)}</a></dt><dd>${escaped(page.summary)}</dd>`,
  );
  const body = `<h1>Documentation</h1><dl>${rows.join('')}</dl>`;
  return layout(pages, { title: 'Documentation', body, current: '' });
}

/** Renders the sections that a search found. */
export function htmlSearch(
  pages: readonly DocPage[],
  words: string,
  matches: readonly DocMatch[],
): string {
  const rows = matches.map(
    ({ page, anchor, heading, excerpt }) =>
      `<dt><a href="${hrefOf(page)}#${anchor}">${escaped(`${page.name}: ${heading}`)}</a></dt><dd>${escaped(excerpt)}</dd>`,
  );
  const found = rows.length === 0 ? '<p>No section has all of these words.</p>' : '';
  const body = `<h1>${escaped(words)}</h1>${found}<dl>${rows.join('')}</dl>`;
  return layout(pages, { title: words, body, current: '', words });
}

/** Returns the path of a page on the server. */
export function hrefOf({ name }: Pick<DocPage, 'name'>): string {
  return `/${name}`;
}

function createMarked(
  pages: readonly DocPage[],
  page: DocPage,
  anchors: readonly string[],
): Marked {
  let heading = -1;
  return new Marked({
    gfm: true,
    renderer: {
      html: ({ raw }) => (/^<br\s*\/?>$/.test(raw.trim()) ? '<br>' : commentless(raw)),
      heading({ tokens, depth }) {
        heading += 1;
        return `<h${depth} id="${anchors[heading] ?? ''}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      code: ({ text }) => `<pre><code>${escaped(text)}</code></pre>`,
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const place = linkedPage(pages, page, href);
        if (place !== null) {
          const anchor = place.anchor === '' ? '' : `#${place.anchor}`;
          return `<a href="${escaped(hrefOf(place.page) + anchor)}">${text}</a>`;
        }
        if (!/^https?:\/\//.test(href)) return text;
        return `<a href="${escaped(href)}" rel="noreferrer noopener">${text}</a>`;
      },
      image({ href, text }) {
        const [, name] = /(?:^|\/)screens\/([\w-]+\.png)$/.exec(href) ?? [];
        if (name === undefined) return escaped(text);
        return `<img src="/screens/${name}" alt="${escaped(text)}">`;
      },
    },
  });
}

/** A comment is not shown; other HTML is shown as text. */
function commentless(raw: string): string {
  return escaped(raw.replaceAll(/<!--.*?-->/gs, ''));
}

interface Layout {
  title: string;
  body: string;
  /** Name of the page that is shown. */
  current: string;
  words?: string;
}

function layout(pages: readonly DocPage[], { title, body, current, words = '' }: Layout): string {
  const links = pages.map((page) => {
    const mark = page.name === current ? ' aria-current="page"' : '';
    return `<li><a href="${hrefOf(page)}"${mark}>${escaped(page.name)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} - Holdpoint</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<nav aria-label="Pages">
<form action="/search"><input type="search" name="words" aria-label="Search" placeholder="Search" value="${escaped(words)}"></form>
<ul>${links.join('')}</ul>
</nav>
<main>
${body}
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
