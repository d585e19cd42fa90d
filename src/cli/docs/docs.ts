import { once } from 'node:events';
import type { Token, Tokens } from 'marked';
import { commandLine } from '../../actors/command-line.ts';
import { nearestName } from '../../actors/nearest-name.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { openBrowser } from '../ui/open-browser.ts';
import { type DocPage, docPages } from './doc-pages.ts';
import { docSections, lexed, tokensAt } from './doc-sections.ts';
import { findPage, linkedPage, type PagePlace } from './find-page.ts';
import { hrefOf } from './html-page.ts';
import { showInPager } from './pager.ts';
import { plainInline } from './plain-inline.ts';
import { searchPages } from './search-pages.ts';
import { serveDocs } from './serve-docs.ts';
import { terminalPage } from './terminal-page.ts';

export interface DocsOptions {
  search?: string[];
  open?: boolean;
  port?: number;
}

/** `docs [page]`: lists the pages, prints one, searches them, or shows them in the browser. */
export async function docs(
  session: Session,
  asked: string | undefined,
  { search, open = false, port = 0 }: DocsOptions,
): Promise<void> {
  const pages = docPages();
  if (search !== undefined) return printMatches(session, pages, search);
  const place = asked === undefined ? null : findPage(pages, asked);
  if (open) {
    if (asked !== undefined && place === null) throw unknownPage(pages, asked);
    return openPages(session, { pages, place, port });
  }
  if (asked === undefined) return listPages(session, pages);
  if (place !== null) return printPage(session, pages, place);
  const found = errorEntries(pages, asked);
  if (found === null) throw unknownPage(pages, asked);
  await print(session, pages, found.page, found.tokens);
  const text = `${found.tokens.map((token) => token.raw.trim()).join('\n\n')}\n`;
  session.output.json({ page: found.page.name, text });
}

async function listPages(session: Session, pages: readonly DocPage[]): Promise<void> {
  const { output } = session;
  const width = Math.max(...pages.map(({ name }) => name.length));
  const lines = pages.map(
    ({ name, summary }) => `${output.colours.bold(name.padEnd(width))}  ${summary}`,
  );
  const hint = `Read one with ${commandLine('docs NAME')}, or in the browser with --open.`;
  if (!output.isJson) await showInPager(session, `${[...lines, '', hint].join('\n')}\n`);
  output.json({ pages: pages.map(({ name, title, summary }) => ({ name, title, summary })) });
}

async function printPage(
  session: Session,
  pages: readonly DocPage[],
  { page, anchor }: PagePlace,
): Promise<void> {
  const tokens = anchor === '' ? lexed(page.text) : tokensAt(page.text, anchor);
  if (tokens === null) throw unknownSection(page, anchor);
  await print(session, pages, page, tokens);
  const { name, title } = page;
  session.output.json({ name, title, text: anchor === '' ? page.text : raw(tokens) });
}

/** Maximum characters of a line, for reading. */
const widest = 100;

async function print(
  session: Session,
  pages: readonly DocPage[],
  page: DocPage,
  tokens: readonly Token[],
): Promise<void> {
  const { output } = session;
  if (output.isJson) return;
  const { columns = 80 } = output.stdout as { columns?: number };
  const text = terminalPage(tokens, {
    width: Math.max(20, Math.min(columns, widest)),
    colours: output.colours,
    linkName: (href) => linkName(pages, page, href),
  });
  await showInPager(session, text);
}

/** A link to a page is named by the word that opens it. */
function linkName(pages: readonly DocPage[], page: DocPage, href: string): string {
  const place = linkedPage(pages, page, href);
  if (place === null) return /^https?:/.test(href) ? `<${href}>` : '';
  const anchor = place.anchor === '' ? '' : `#${place.anchor}`;
  return place.page === page ? '' : `[${place.page.name}${anchor}]`;
}

function printMatches({ output }: Session, pages: readonly DocPage[], words: string[]): void {
  const wanted = words.flatMap((word) => word.split(/\s+/));
  const matches = searchPages(pages, wanted);
  for (const { page, anchor, heading, excerpt } of matches) {
    output.line(`${output.colours.bold(`${page.name}#${anchor}`)}  ${heading}`);
    output.line(`    ${excerpt}`);
  }
  output.json({
    sections: matches.map(({ page, anchor, heading, excerpt }) => ({
      ...{ page: page.name, section: `${page.name}#${anchor}`, heading, excerpt },
    })),
  });
  if (matches.length > 0) return;
  throw new CliError(plainLine(`no section has all of these words: ${wanted.join(' ')}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'search with fewer words',
  });
}

interface Opening {
  pages: readonly DocPage[];
  place: PagePlace | null;
  port: number;
}

async function openPages(
  { output, interruption, input }: Session,
  { pages, place, port }: Opening,
): Promise<void> {
  const stopped = interruption.listen({ isReaderNeeded: false });
  const server = await serveDocs(pages, port).catch((error: unknown) => {
    throw new CliError(plainLine(`the pages cannot be served: ${messageOf(error)}`), {
      code: 'cannot_listen',
      hint: 'choose another --port',
      cause: error,
    });
  });
  input.leave();
  try {
    const anchor = place === null || place.anchor === '' ? '' : `#${place.anchor}`;
    const url = `${server.url}${place === null ? '/' : hrefOf(place.page)}${anchor}`;
    output.line(`the documentation is at ${url}; Ctrl-C ends it`);
    output.json({ url, pid: process.pid });
    if (output.stdout.isTTY === true && !output.isJson) openBrowser(url);
    if (!stopped.aborted) await once(stopped, 'abort');
  } finally {
    server.close();
  }
}

function raw(tokens: readonly Token[]): string {
  return tokens.map((token) => token.raw).join('');
}

function unknownPage(pages: readonly DocPage[], asked: string): CliError {
  const names = pages.map(({ name }) => name);
  const near = nearestName(asked, names);
  const [first] = searchPages(pages, [asked]);
  const section = first === undefined ? null : `${first.page.name}#${first.anchor}`;
  const meant = near ?? section;
  return new CliError(plainLine(`there is no page ${asked}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint:
      meant === null
        ? `list the pages with ${commandLine('docs')}`
        : `did you mean ${commandLine(`docs ${meant}`)}?`,
  });
}

function unknownSection(page: DocPage, anchor: string): CliError {
  return new CliError(plainLine(`the page ${page.name} has no section ${anchor}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: `read the whole page with ${commandLine(`docs ${page.name}`)}`,
  });
}

/** What the page of errors says of one code, each list under its heading. */
interface ErrorEntries {
  page: DocPage;
  tokens: Token[];
}

/** Finds the entries about a code, a status or an error class, such as `not_found` or `409`; `null` if there is none. */
function errorEntries(pages: readonly DocPage[], code: string): ErrorEntries | null {
  const page = pages.find(({ name }) => name === 'errors');
  if (page === undefined) return null;
  const tokens = docSections(page.text).flatMap(({ tokens: [heading, ...below] }) => {
    const entries = below.flatMap((token, index) =>
      entriesAbout(token, below.slice(0, index), code),
    );
    return entries.length === 0 || heading === undefined ? [] : [heading, ...entries];
  });
  return tokens.length === 0 ? null : { page, tokens };
}

/** The paragraph of a code with its list, by code or status; else a list below its code, or the items that begin with it. */
function entriesAbout(token: Token, before: readonly Token[], code: string): Token[] {
  if (token.type === 'paragraph' && isTitleOf(token, code)) return [token];
  if (token.type !== 'list') return [];
  const title = before.findLast(({ type }) => type !== 'space');
  if (title !== undefined && isTitleOf(title, code)) return [token];
  if (title?.type === 'paragraph' && plainInline(title) === `${code}:`) return [title, token];
  const list = token as Tokens.List;
  const items = list.items.filter(({ text }) => text.startsWith(`\`${code}\`: `));
  if (items.length === 0) return [];
  return [{ ...list, items, raw: items.map(({ raw }) => `${raw.trimEnd()}\n`).join('') }];
}

/** Returns whether a paragraph is about an HTTP error of this code or status, such as `not_found (404): …`. */
function isTitleOf(token: Token, code: string): boolean {
  const [, ...named] = /^(\w+) \((\d+)\): /.exec(plainInline(token)) ?? [];
  return token.type === 'paragraph' && named.includes(code);
}
