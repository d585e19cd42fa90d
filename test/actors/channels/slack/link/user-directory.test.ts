import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeSlack, type FakeSlackOptions } from '../../../../../packages/fake-slack/fake-slack.ts';
import { fakeUser } from '../../../../../packages/fake-slack/workspace/people.ts';
import { createSlackClient } from '../../../../../src/actors/channels/slack/link/slack-client.ts';
import {
  UserDirectory,
  type UserDirectoryOptions,
} from '../../../../../src/actors/channels/slack/link/user-directory.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';

async function openDirectory(
  options: FakeSlackOptions = {},
  more: Pick<UserDirectoryOptions, 'self'> = {},
) {
  const slack = await FakeSlack.start(options);
  onTestFinished(() => slack.close());
  const { botToken: token, apiUrl } = slack;
  const warnings: object[] = [];
  const log = {
    info: () => undefined,
    warn: (fields: object, message: string) => void warnings.push({ ...fields, message }),
    error: () => undefined,
  };
  const web = createSlackClient({ token, apiUrl, fetch: globalThis.fetch, log });
  const clock = new ManualClock(1_000);
  const people = new UserDirectory({ web, clock, log, ...more });
  return {
    slack,
    clock,
    warnings,
    person: (id: string) => people.person(id),
    asked: () => slack.calls.filter(({ method }) => method === 'users.info').length,
  };
}

describe('the people of a workspace', () => {
  it('are read with the email in lower case', async () => {
    const { person } = await openDirectory({
      users: [
        fakeUser({
          id: 'U0ANN00001',
          name: 'ann',
          realName: 'Ann Miller',
          email: 'Ann@Example.com',
        }),
      ],
    });
    expect(await person('U0ANN00001')).toEqual({
      name: expect.stringMatching(/^(?:ann|Ann Miller)$/),
      email: 'ann@example.com',
    });
  });

  it('have no email for guests without one, deactivated people, bots and strangers', async () => {
    const { person } = await openDirectory({}, { self: () => ({ teamId: 'T0ANOTHER1' }) });
    const here = await openDirectory();
    const emails = (
      await Promise.all(['U0GUEST001', 'U0GONE0001', 'U0ROBOT001'].map(here.person))
    ).map(({ email }) => email);
    expect([...emails, (await person('U0ANN00001')).email]).toEqual([null, null, null, null]);
  });

  it('are requested again after a minute, and once for concurrent look-ups', async () => {
    const { person, clock, asked } = await openDirectory();
    await Promise.all([person('U0ANN00001'), person('U0ANN00001')]);
    const counts = [asked()];
    for (const passed of [59_999, 1]) {
      clock.advance(passed);
      await person('U0ANN00001');
      counts.push(asked());
    }
    expect(counts).toEqual([1, 1, 2]);
  });

  it('are not cached after a failure, never reject, and warn once for each reason', async () => {
    const { slack, person, warnings } = await openDirectory();
    for (const error of ['missing_scope', 'user_not_found']) {
      slack.fail({ method: 'users.info', fault: { kind: 'refuse', error, needed: 'users:read' } });
    }
    const failed = [await person('U0ANN00001'), await person('U0ANN00001')];
    const { email } = await person('U0ANN00001');
    expect({ failed, email, warnings }).toEqual({
      failed: [
        { name: 'U0ANN00001', email: null },
        { name: 'U0ANN00001', email: null },
      ],
      email: 'ann@example.com',
      warnings: [
        {
          error: 'give the Slack app the scope users:read and install it again (missing_scope)',
          message: 'slack: users cannot be looked up, so no email is available',
        },
        {
          error: 'use a member of the workspace (user_not_found)',
          message: 'slack: users cannot be looked up, so no email is available',
        },
      ],
    });
  });
});
