// Writes the tables of rooms in CONTRIBUTING.md from the import rules: `npm run rooms`. With `--check` it fails when one is
// stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tableOf, withPart } from './pages/generated-part.ts';

type Rooms = Readonly<Record<string, { purpose: string; uses: readonly string[] }>>;

const page = 'CONTRIBUTING.md';
const { wings, dashboardRooms } = createRequire(import.meta.url)('./rooms/rooms.cjs') as {
  wings: Rooms;
  dashboardRooms: Rooms;
};

const text = readFileSync(page, 'utf8');
const written = withPart(
  withPart(text, 'wings', roomsTable(['Wing', 'Question', 'Uses'], wings)),
  'rooms of the dashboard',
  roomsTable(['Room', 'What it does', 'Uses'], dashboardRooms),
);

if (!process.argv.includes('--check')) writeFileSync(page, written);
else if (written !== text) {
  console.error(`the tables of rooms in ${page} are stale; run npm run rooms and commit it`);
  process.exitCode = 1;
}

function roomsTable(head: readonly string[], rooms: Rooms): string {
  const rows = Object.entries(rooms).map(([room, { purpose, uses }]) => {
    const used = uses.map((one) => `\`${one}\``).join(', ');
    return [`\`${room}/\``, purpose, used === '' ? 'none' : used];
  });
  return tableOf(head, rows);
}
