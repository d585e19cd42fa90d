// Prints the weight of the house: lines, files, copies, declarations of five facts, words, and phrases that are read twice.
// `--write` puts the figures into CONTRIBUTING.md; `--check` fails if a figure is above the one there. Lines and words are
// rounded up to the next hundred, so that small changes need no new table.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { copiesIn } from './house/copies-in.ts';
import { declarationsIn, facts } from './house/declarations-in.ts';
import { bannedIn } from './language/banned-in.ts';
import { partOf, tableOf, withPart } from './pages/generated-part.ts';

const page = 'CONTRIBUTING.md';
const part = 'weight';

/** Figures by their name in the table. */
function measured(): Map<string, number> {
  const src = readAll('src', 'packages');
  const test = readAll('test');
  const docs = readAll('docs').filter(({ path }) => path.endsWith('.md'));
  const prose = [...src, ...test, ...docs, ...readAll('scripts', 'bench', 'examples', 'skills')];
  const code = [...src, ...test].filter(({ path }) => /\.(?:ts|svelte)$/.test(path));
  return new Map([
    ['lines of `src` and `packages`', hundreds(linesOf(src))],
    ['files of `src` and `packages`', src.length],
    ['lines of `test`', hundreds(linesOf(test))],
    ['copies of six lines or more', copiesIn(code)],
    ['words of `docs`', hundreds(wordsOf(docs))],
    ['phrases that `npm run language` would refuse anywhere', refusedIn(prose)],
    ...facts.map((fact): [string, number] => [
      `declarations of \`${fact}\``,
      declarationsIn(src, fact),
    ]),
  ]);
}

function readAll(...folders: string[]): { path: string; text: string }[] {
  const listed = execFileSync('git', ['ls-files', '-z', ...folders], { encoding: 'utf8' });
  const paths = listed
    .split('\0')
    .filter((path) => /\.(?:ts|mjs|svelte|css|html|md|json|py)$/.test(path));
  return paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

function linesOf(files: { text: string }[]): number {
  return files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
}

function wordsOf(files: { text: string }[]): number {
  return files.reduce(
    (sum, { text }) => sum + text.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length,
    0,
  );
}

function refusedIn(files: { path: string; text: string }[]): number {
  return files.reduce((sum, { path, text }) => sum + bannedIn(path, text).length, 0);
}

function hundreds(count: number): number {
  return Math.ceil(count / 100) * 100;
}

function committed(text: string): Map<string, number> {
  const rows = partOf(text, part).matchAll(/^\| (.+?) \| ([\d,]+) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', count = '']) => [name, Number(count.replaceAll(',', ''))]),
  );
}

const figures = measured();
const rows = [...figures].map(([name, count]) => [name, count.toLocaleString('en')]);
const table = tableOf(['Figure', 'at most'], rows);
const text = readFileSync(page, 'utf8');
if (process.argv.includes('--write')) writeFileSync(page, withPart(text, part, table));
if (process.argv.includes('--check')) {
  const bounds = committed(text);
  const above = [...figures].filter(([name, count]) => count > (bounds.get(name) ?? 0));
  for (const [name, count] of above) {
    const bound = bounds.get(name) ?? 'no figure';
    console.log(
      `${page}: ${name} are ${count}, above ${bound}; remove some, or run npm run house -- --write and say why in the commit`,
    );
  }
  process.exitCode = above.length > 0 ? 1 : 0;
} else console.log(table.trimEnd());
