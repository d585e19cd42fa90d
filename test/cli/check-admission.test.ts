import { describe, expect, it } from 'vitest';
import { checkAdmission } from '../../src/cli/doctor/check-admission.ts';
import {
  canary,
  denial,
  type Reply,
  says,
  startFakePlatform,
} from '../actors/access/admission/fake-platform.ts';

/** Says what the check finds at a platform that answers like this. */
async function examine(reply: Reply) {
  const platform = await startFakePlatform();
  platform.reply = reply;
  const env = {
    SERVICE_ADMISSION_URL: `${platform.url}/v1/admission`,
    SERVICE_PLATFORM_TOKEN: canary,
  };
  const finding = await checkAdmission({ env }, 'till');
  expect(platform.calls.map(({ url }) => url)).toEqual(['/v1/admission?agent_id=till']);
  expect(JSON.stringify(finding)).not.toContain(canary);
  return finding;
}

function saysAt(date: Date, document: unknown): Reply {
  return (response) => {
    response.setHeader('date', date.toUTCString());
    says(document)(response);
  };
}

describe('the check of admission', () => {
  it('passes while admission is off', async () => {
    expect(await checkAdmission({ env: {} }, 'till')).toEqual({
      status: 'pass',
      message: 'admission is off',
    });
  });

  it('warns when one of the two variables is missing', async () => {
    expect(await checkAdmission({ env: { SERVICE_PLATFORM_TOKEN: canary } }, 'till')).toEqual({
      status: 'warn',
      message:
        'admission: off, because SERVICE_ADMISSION_URL is not set; set it, or unset SERVICE_PLATFORM_TOKEN',
    });
  });

  it('fails for variables with which no call can be made', async () => {
    const env = { SERVICE_ADMISSION_URL: 'platform', SERVICE_PLATFORM_TOKEN: canary };
    expect(await checkAdmission({ env }, 'till')).toEqual({
      status: 'fail',
      message:
        'SERVICE_ADMISSION_URL is not an http or https URL; write one such as https://platform.example.com/v1/admission',
    });
  });

  it('calls no platform for an unknown agent', async () => {
    const platform = await startFakePlatform();
    const env = { SERVICE_ADMISSION_URL: platform.url, SERVICE_PLATFORM_TOKEN: canary };
    expect(await checkAdmission({ env }, null)).toEqual({
      status: 'warn',
      message: 'the platform is not asked, since service.yaml is not valid',
    });
    expect(platform.calls).toEqual([]);
  });

  it('passes a platform that admits', async () => {
    expect(await examine(says({ decision: 'admit' }))).toEqual({
      status: 'pass',
      message: 'the platform admits new invocations',
    });
  });

  it('warns of a platform that denies, with the reason', async () => {
    const fix = 'raise the limit on the platform, or wait';
    expect(await examine(says({ ...denial, reason: 'spent\u001b[2J' }))).toEqual({
      status: 'warn',
      message: expect.stringMatching(
        /^the platform denies new invocations: spent[^\p{Cc}]*, workspace, daily, until 2026-11-22T00:00:00Z$/u,
      ),
      fix,
    });
    expect(await examine(says({ decision: 'deny' }))).toEqual({
      status: 'warn',
      message: 'the platform denies new invocations',
      fix,
    });
  });

  it('warns of a different clock', async () => {
    const finding = await examine(saysAt(new Date(Date.now() - 90_000), { decision: 'admit' }));
    expect(finding).toEqual({
      status: 'warn',
      message: expect.stringMatching(
        /^the clock here and that of the platform differ by (90|91) s$/,
      ),
      fix: 'set the clock of this machine by NTP',
    });
  });

  it('fails for a platform that cannot be reached', async () => {
    const fix = 'check SERVICE_ADMISSION_URL, SERVICE_PLATFORM_TOKEN and the way to the platform';
    expect(await examine(says('no', 401))).toEqual({
      status: 'fail',
      message: 'the platform answered 401; it must answer 200, so every invocation is admitted',
      fix,
    });
    expect(await examine((response) => void response.destroy())).toEqual({
      status: 'fail',
      message: 'the platform cannot be reached (UND_ERR_SOCKET), so every invocation is admitted',
      fix,
    });
  });
});
