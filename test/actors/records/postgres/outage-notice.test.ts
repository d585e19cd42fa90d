import { expect, it } from 'vitest';
import { OutageNotice } from '../../../../src/actors/records/postgres/outage-notice.ts';

it('an outage is told when it begins and when it is over, once each', () => {
  const told: [string, object, string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void told.push([level, fields, message]);
  const outage = new OutageNotice(
    { info: at('info'), warn: at('warn'), error: at('error') },
    'jobs: the engine',
  );
  outage.worked();
  for (const reason of ['gone', 'still gone']) outage.failed(new Error(reason));
  for (const _ of [1, 2]) outage.worked();
  outage.failed('gone again');
  expect(told).toEqual([
    ['warn', { error: 'gone' }, 'jobs: the engine cannot be asked'],
    ['info', {}, 'jobs: the engine can be asked again'],
    ['warn', { error: 'gone again' }, 'jobs: the engine cannot be asked'],
  ]);
});
