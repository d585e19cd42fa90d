import { expect, it } from 'vitest';
import { OutageNotice } from '../../../../src/actors/records/postgres/outage-notice.ts';

it('an outage is logged once at its beginning, for each reason, and once at its end', () => {
  const told: [string, object, string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void told.push([level, fields, message]);
  const outage = new OutageNotice({
    log: { info: at('info'), warn: at('warn'), error: at('error') },
    begins: 'it is out',
    ends: 'it is back',
    explain: (error) => `${String(error)}, so wait`,
  });
  outage.worked();
  for (const reason of ['gone', 'refused', 'gone', 'refused']) outage.failed(reason);
  for (const _ of [1, 2]) outage.worked();
  for (let reason = 0; reason < 20; reason += 1) outage.failed(`gone ${reason}`);
  expect(told).toEqual([
    ['warn', { error: 'gone, so wait' }, 'it is out'],
    ['warn', { error: 'refused, so wait' }, 'it is out'],
    ['info', {}, 'it is back'],
    ...Array.from({ length: 10 }, (_, reason) => [
      'warn',
      { error: `gone ${reason}, so wait` },
      'it is out',
    ]),
  ]);
});
