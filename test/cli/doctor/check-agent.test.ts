import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chainLine, checkpoint, GENESIS } from '../../../src/actors/records/log/audit.ts';
import { checkAudit } from '../../../src/cli/doctor/check-agent.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const ts = '2026-07-01T09:00:00.000Z';

/** A log of two files of two lines each; the second begins as a rotated one does. */
function aRotatedLog() {
  const folder = temporaryFolder();
  const one = chainLine({ event: 'session_start', ts }, GENESIS);
  const two = chainLine({ event: 'audit_rotated', ts }, one.hash);
  const three = chainLine(checkpoint(ts, { count: 2, head: two.hash }), two.hash);
  const four = chainLine({ event: 'session_start', ts }, three.hash);
  const older = join(folder, 'audit-000000000001.ndjson');
  const path = join(folder, 'audit.ndjson');
  writeFileSync(older, `${one.line}\n${two.line}\n`);
  writeFileSync(path, `${three.line}\n${four.line}\n`);
  return { older, path };
}

it('doctor checks the finished files of a log with the current one', async () => {
  const { older, path } = aRotatedLog();
  expect(await checkAudit(path, true)).toEqual({
    status: 'pass',
    message: '4 events, chain intact, 0 signed',
  });
  writeFileSync(older, '{}\n');
  expect(await checkAudit(path, true)).toEqual({
    status: 'fail',
    message: `${older}:1: prev_hash is missing`,
    fix: `holdpoint audit verify ${older} ${path}`,
  });
});

it('doctor accepts a log whose oldest files were removed, and reports it', async () => {
  const { older, path } = aRotatedLog();
  rmSync(older);
  expect(await checkAudit(path, true)).toEqual({
    status: 'pass',
    message: '2 events, chain intact, 0 signed; the 2 before them were removed',
  });
});

it('doctor fails a log that lost its beginning in any other way', async () => {
  const { older, path } = aRotatedLog();
  rmSync(older);
  writeFileSync(path, `${chainLine({ event: 'session_start', ts }, 'a'.repeat(64)).line}\n`);
  expect(await checkAudit(path, true)).toMatchObject({ status: 'fail' });
});
