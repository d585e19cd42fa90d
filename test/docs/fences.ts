import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the repository. */
export const clone = join(import.meta.dirname, '../..');

/** A block of a page between fences. */
export interface Fence {
  /** The line of its first fence. */
  line: number;
  language: string;
  /** The file it is, where its first line names one. */
  file: string | null;
  /** Without the indentation of its list. */
  text: string;
}

/** The pages a person reads, as paths from the clone; those that are drawn from charts have no commands. */
export function pages(): string[] {
  const docs = ['docs', 'docs/approvals'].flatMap((folder) =>
    readdirSync(join(clone, folder))
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .map((name) => `${folder}/${name}`),
  );
  return [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'clients/python/README.md',
    'examples/refunds/README.md',
    'examples/releases/README.md',
    'examples/testing/README.md',
    ...docs,
  ];
}

/** Reads a page. */
export function readPage(page: string): string {
  return readFileSync(join(clone, page), 'utf8');
}

/** Takes a page apart into its fences, in their order. */
export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  const pattern = /^( *)(`{3,})([^`\n]*)\n([^]*?)^\1\2[ \t]*$/gm;
  for (const match of markdown.matchAll(pattern)) {
    const [, indent = '', , info = '', text = ''] = match;
    const [language = '', file] = info.trim().split(/\s+/);
    fences.push({
      line: markdown.slice(0, match.index).split('\n').length,
      language,
      file: file ?? null,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    });
  }
  return fences;
}

/** Whether a fence is something to type. */
export function isCommand({ language, file }: Fence): boolean {
  return ['sh', 'bash', 'shell', 'console'].includes(language) && file === null;
}
