// Prints the weight of the house: lines, files, copies, declarations of five facts, words, and phrases that are read twice.
// `--write` puts the figures into CONTRIBUTING.md; `--check` fails if a figure is above the one there. Lines and words are
// rounded up to the next hundred, so that small changes need no new table.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { copiesIn } from './house/copies-in.ts';
import { declarationsIn, facts } from './house/declarations-in.ts';
import { bannedIn } from './language/banned-in.ts';

const page = 'CONTRIBUTING.md';
const [start, end] = ['<!-- house:start -->', '<!-- house:end -->'];

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
  const table = text.slice(text.indexOf(start), text.indexOf(end));
  const rows = table.matchAll(/^\| (.+?) +\| +([\d,]+) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', count = '']) => [name, Number(count.replaceAll(',', ''))]),
  );
}

function tableOf(figures: ReadonlyMap<string, number>): string {
  const rows = [...figures].map(([name, count]) => `| ${name} | ${count.toLocaleString('en')} |`);
  return ['| Figure | at most |', '|---|---|', ...rows].join('\n');
}

const figures = measured();
const text = readFileSync(page, 'utf8');
if (process.argv.includes('--write')) {
  const [before, after] = [text.slice(0, text.indexOf(start)), text.slice(text.indexOf(end))];
  writeFileSync(page, `${before}${start}\n${tableOf(figures)}\n${after}`);
}
const bounds = committed(readFileSync(page, 'utf8'));
const above = [...figures].filter(([name, count]) => count > (bounds.get(name) ?? 0));
if (!process.argv.includes('--check')) console.log(tableOf(figures));
else
  for (const [name, count] of above) {
    console.log(
      `${page}: ${name} are ${count}, above ${bounds.get(name) ?? 'no figure'}; remove some, or run npm run house -- --write and say why in the commit`,
    );
  }
process.exit(process.argv.includes('--check') && above.length > 0 ? 1 : 0);
