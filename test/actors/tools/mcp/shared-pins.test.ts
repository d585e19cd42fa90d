import { expect, it, vi } from 'vitest';
import { SqliteWebRecords } from '../../../../src/actors/records/sqlite/sqlite-web-records.ts';
import { SeenTools, type Standing } from '../../../../src/actors/tools/mcp/seen-tools.ts';
import { SharedPins } from '../../../../src/actors/tools/mcp/shared-pins.ts';
import { emptyTables } from '../../../helpers/empty-tables.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

const version = (letter: string) => ({
  ...{ name: 'pay', description: `Pays ${letter}.`, parameters: { type: 'object' } },
  sha256: letter.repeat(64),
});

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Daemons over one store, each with a folder of its own. */
function store() {
  const clock = new ManualClock(0);
  const records = new SqliteWebRecords(emptyTables());
  /** Starts a daemon, and returns how it takes an offer. */
  const start = async () => {
    const seen = new SeenTools(temporaryFolder());
    const pins = new SharedPins({ records, seen, clock, log: silent });
    await pins.load();
    let changes = 0;
    pins.start(() => {
      changes += 1;
    });
    const take = async (letter: string): Promise<Standing | undefined> => {
      const standing = seen.check('shop', [version(letter)], () => false).get('pay');
      await pins.publish('shop', seen.toolsOf('shop') ?? []);
      return standing;
    };
    return { seen, pins, take, changes: () => changes };
  };
  return { clock, start };
}

it('a daemon in a new folder trusts only the tools that the others have accepted', async () => {
  const { start } = store();
  const first = await start();
  expect(await first.take('a')).toBe('accepted');
  const second = await start();
  expect(await second.take('b')).toBe('changed');
  expect(await second.take('a')).toBe('accepted');
});

it('an acceptance at one daemon counts at every daemon, also after a restart', async () => {
  const { clock, start } = store();
  const [first, second] = [await start(), await start()];
  expect([await first.take('a'), await second.take('a')]).toEqual(['accepted', 'accepted']);
  expect([await first.take('b'), await second.take('b')]).toEqual(['changed', 'changed']);
  expect(first.seen.accept('shop', ['pay'])).toEqual(['pay']);
  expect(await first.take('b')).toBe('accepted');
  clock.advance(5_000);
  await vi.waitFor(() => expect(second.changes()).toBe(1), patient);
  expect(await second.take('b')).toBe('accepted');
  // The older version that it had is not stored again.
  const third = await start();
  expect([await third.take('a'), await third.take('b')]).toEqual(['changed', 'accepted']);
  await Promise.all([first, second, third].map(({ pins }) => pins.stop()));
});
