import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AuditVerdicts } from '../../../src/cli/ui/audit-verdicts.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

function counted() {
  const seen: (readonly string[])[] = [];
  const verdicts = new AuditVerdicts((files) => {
    seen.push(files);
    return Promise.resolve({ ok: true, events: seen.length });
  });
  return { seen, verdicts };
}

it('verifies a log once for what it holds, however many ask at once', async () => {
  const path = join(temporaryFolder(), 'audit.ndjson');
  writeFileSync(path, 'one\n');
  const { seen, verdicts } = counted();
  const asked = await Promise.all([verdicts.of([path]), verdicts.of([path])]);
  expect([...asked, await verdicts.of([path])]).toEqual(Array(3).fill({ ok: true, events: 1 }));
  appendFileSync(path, 'two\n');
  expect(await verdicts.of([path])).toEqual({ ok: true, events: 2 });
  expect(seen).toEqual([[path], [path]]);
});

it('tells a log of one folder from that of another', async () => {
  const paths = [temporaryFolder(), temporaryFolder()].map((folder) =>
    join(folder, 'audit.ndjson'),
  );
  for (const path of paths) writeFileSync(path, 'one\n');
  const { seen, verdicts } = counted();
  for (const path of [...paths, ...paths]) await verdicts.of([path]);
  expect(seen).toEqual(paths.map((path) => [path]));
});

it('keeps no failure', async () => {
  const path = join(temporaryFolder(), 'audit.ndjson');
  writeFileSync(path, 'one\n');
  let calls = 0;
  const verdicts = new AuditVerdicts(() => {
    calls += 1;
    return calls === 1
      ? Promise.reject(new Error('the disk is gone'))
      : Promise.resolve({ ok: true, events: 1 });
  });
  await expect(verdicts.of([path])).rejects.toThrow('the disk is gone');
  expect(await verdicts.of([path])).toEqual({ ok: true, events: 1 });
});
