// Writes the tables of rooms in CONTRIBUTING.md from the import rules: `npm run rooms`. With `--check` it fails when one is
// stale.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Rooms = Readonly<Record<string, { purpose: string; uses: readonly string[] }>>;

const page = 'CONTRIBUTING.md';
const { wings, dashboardRooms } = createRequire(import.meta.url)('./rooms/rooms.cjs') as {
  wings: Rooms;
  dashboardRooms: Rooms;
};

const text = readFileSync(page, 'utf8');
const written = withTable(
  withTable(text, 'wings', ['Wing', 'Question', 'Uses'], wings),
  'dashboardRooms',
  ['Room', 'What it does', 'Uses'],
  dashboardRooms,
);

if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (written !== text) {
  console.error(`the tables of rooms in ${page} are stale; run npm run rooms and commit it`);
  process.exitCode = 1;
}

function withTable(page: string, name: string, heads: readonly string[], rooms: Rooms): string {
  const rows = Object.entries(rooms).map(([room, { purpose, uses }]) => {
    const used = uses.map((one) => `\`${one}\``).join(', ');
    return `| \`${room}/\` | ${purpose} | ${used === '' ? 'none' : used} |`;
  });
  const table = [`| ${heads.join(' | ')} |`, '| --- | --- | --- |', ...rows].join('\n');
  const [start, end] = [`<!-- rooms:${name} -->`, `<!-- /rooms:${name} -->`];
  const [before, after] = [page.indexOf(start), page.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`${name} has no place in the page`);
  return `${page.slice(0, before)}${start}\n${table}\n${page.slice(after)}`;
}
