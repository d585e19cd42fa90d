import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chart, chartPage, indexPage } from './page.ts';

/** Every page by its file name. */
export type Pages = Map<string, string>;

/** Draws the pages of all charts and their index. Throws when a chart, guard or action has no name or description. */
export function drawPages(charts: Chart[]): Pages {
  return new Map([
    ['README.md', indexPage(charts)],
    ...charts.map((chart) => [`${chart.name}.md`, chartPage(chart, charts)] as const),
  ]);
}

/** Names the files of a folder that differ from the pages, are missing, or belong to no chart. */
export function stalePages(folder: string, pages: Pages): string[] {
  const present = readFolder(folder);
  const names = new Set([...pages.keys(), ...present.keys()]);
  return [...names].filter((name) => pages.get(name) !== present.get(name)).toSorted();
}

/** Makes a folder hold the pages and no other page. */
export function writePages(folder: string, pages: Pages): void {
  mkdirSync(folder, { recursive: true });
  for (const name of stalePages(folder, pages)) {
    const text = pages.get(name);
    if (text === undefined) rmSync(join(folder, name));
    else writeFileSync(join(folder, name), text);
  }
}

function readFolder(folder: string): Pages {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
