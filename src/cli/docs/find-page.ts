import { posix } from 'node:path';
import { type DocPage, nameOf } from './doc-pages.ts';

/** A page, and the part of it that was asked for. */
export interface PagePlace {
  page: DocPage;
  /** Empty for the whole page. */
  anchor: string;
}

/**
 * Finds a page by its name, or by its path as messages show it: `docs/gate.md`, `gate.md#ask`. Compares with the pages
 * of the package alone and reads no other file.
 */
export function findPage(pages: readonly DocPage[], asked: string): PagePlace | null {
  const [path = '', anchor = ''] = asked.split('#', 2);
  const name = path
    .replace(/^\.?\//, '')
    .replace(/^docs\//, '')
    .replace(/(?:(?:^|\/)README)?\.md$/i, '')
    .replace(/\/$/, '');
  const page =
    pages.find((one) => one.name === name) ??
    pages.find((one) => one.name === name.toLowerCase() || one.path === path);
  return page === undefined ? null : { page, anchor };
}

/** Finds the page that a link on another page leads to; `null` for a link that leads elsewhere. */
export function linkedPage(
  pages: readonly DocPage[],
  from: DocPage,
  href: string,
): PagePlace | null {
  const [path = '', anchor = ''] = href.split('#', 2);
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return null;
  if (path === '') return { page: from, anchor };
  const target = posix.normalize(posix.join(posix.dirname(from.path), path));
  const found = pages.find(
    (one) => one.path === target || one.name === nameOf(`${target}/README.md`),
  );
  return found === undefined ? null : { page: found, anchor };
}
