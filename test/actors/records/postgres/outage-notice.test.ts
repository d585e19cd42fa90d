import { expect, it } from 'vitest';
import { OutageNotice } from '../../../../src/actors/records/postgres/outage-notice.ts';

it('says once why something fails, also of what is no error, and once that it works again', () => {
  const said: [object, string][] = [];
  const note = (fields: object, message: string) => void said.push([fields, message]);
  const notice = new OutageNotice({ info: note, warn: note, error: note }, 'jobs: the engine');
  notice.worked();
  notice.failed({ message: 'Connection terminated', queue: 'work' });
  notice.failed(new Error('again'));
  notice.worked();
  notice.failed(new Error('gone'));
  notice.worked();
  notice.failed('nowhere');
  expect(said).toEqual([
    [{ error: 'Connection terminated' }, 'jobs: the engine cannot be asked'],
    [{}, 'jobs: the engine can be asked again'],
    [{ error: 'gone' }, 'jobs: the engine cannot be asked'],
    [{}, 'jobs: the engine can be asked again'],
    [{ error: 'nowhere' }, 'jobs: the engine cannot be asked'],
  ]);
});
