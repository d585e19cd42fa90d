import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openUpdateCheck } from '../../../src/dashboard/server/update-check.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';

const day = 24 * 60 * 60 * 1_000;
let state: string;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'holdpoint-updates-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
});

/** A place that announces releases. */
async function announcing(answer: (response: ServerResponse) => void) {
  const asked: { url: string | undefined; headers: string[] }[] = [];
  const server = createServer((request, response) => {
    asked.push({ url: request.url, headers: Object.keys(request.headers).toSorted() });
    answer(response);
  });
  return { asked, url: `${await listenOnLoopback(server)}/holdpoint/latest` };
}

const saying = (body: unknown) => (response: ServerResponse) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
};

function check(url: string | undefined, more: Partial<Parameters<typeof openUpdateCheck>[0]> = {}) {
  const env = { XDG_STATE_HOME: state, ...(url === undefined ? {} : { SERVICE_UPDATE_URL: url }) };
  const clock = new ManualClock(0);
  return openUpdateCheck({ env, version: '1.2.0', isSource: false, clock, ...more });
}

/** Resolves with what a look-up has left behind. */
function kept(): Promise<unknown> {
  return vi.waitFor(() => JSON.parse(readFileSync(join(state, 'holdpoint/update.json'), 'utf8')), {
    timeout: 20_000,
    interval: 5,
  });
}

describe('openUpdateCheck', () => {
  it.each([
    ['a registry', { version: '1.10.0' }, '1.10.0'],
    ['a forge', { tag_name: 'v1.10.0' }, '1.10.0'],
    ['the current release', { version: '1.2.0' }, null],
    ['an older release', { version: '1.1.9' }, null],
  ])('reports the release of %s', async (_, body, newer) => {
    const { url, asked } = await announcing(saying(body));
    const updates = check(url);
    expect(updates.newer()).toBeNull();
    await kept();
    expect(updates.newer()).toBe(newer);
    expect(asked).toEqual([
      {
        url: '/holdpoint/latest',
        headers: [
          ...['accept', 'accept-encoding', 'accept-language', 'connection', 'host'],
          ...['sec-fetch-mode', 'user-agent'],
        ],
      },
    ]);
  });

  it('asks once a day, over restarts too, and again at once for another agent', async () => {
    const { url, asked } = await announcing(saying({ version: '1.3.0' }));
    const clock = new ManualClock(5 * day);
    check(url, { clock }).newer();
    expect(await kept()).toEqual({ url, checked_at: 5 * day, version: '1.3.0' });
    expect(statSync(join(state, 'holdpoint/update.json')).mode & 0o777).toBe(0o600);
    clock.advance(day - 1);
    const later = check(url, { clock });
    expect([later.newer(), asked.length]).toEqual(['1.3.0', 1]);
    clock.advance(1);
    // The known release is reported until another one is known.
    expect([later.newer(), later.newer()]).toEqual(['1.3.0', '1.3.0']);
    await vi.waitFor(() => expect(asked.length).toBe(2), { timeout: 20_000, interval: 5 });
    await vi.waitFor(
      async () => expect(await kept()).toMatchObject({ checked_at: 6 * day }),
      patient,
    );
    clock.advance(-3 * day);
    expect(check(`${url}/other`, { clock }).newer()).toBeNull();
    await vi.waitFor(() => expect(asked.length).toBe(3), { timeout: 20_000, interval: 5 });
  });

  it.each([
    ['an error', (response: ServerResponse) => void response.writeHead(500).end('{}')],
    ['no JSON', (response: ServerResponse) => void response.end('<p>')],
    ['no version', saying({ version: 7 })],
    ['a hostile release', saying({ version: '9.9.9 <script>' })],
    [
      'a redirect',
      (response: ServerResponse) =>
        void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['an endless answer', (response: ServerResponse) => void response.end('a'.repeat(2 ** 21))],
    ['nothing', (response: ServerResponse) => void response.destroy()],
  ])('reports nothing after %s, and waits for a day', async (_, answer) => {
    const { url, asked } = await announcing(answer);
    const updates = check(url);
    expect(updates.newer()).toBeNull();
    expect(await kept()).toEqual({ url, checked_at: 0, version: null });
    expect([updates.newer(), asked.length]).toEqual([null, 1]);
  });

  it('sends nothing without a configured address, nor for sources', async () => {
    const { url, asked } = await announcing(saying({ version: '9.0.0' }));
    const checks = [check(undefined), check(''), check(url, { isSource: true })];
    expect(checks.map((one) => one.newer())).toEqual([null, null, null]);
    const proof = check(url);
    proof.newer();
    await kept();
    expect(asked.length).toBe(1);
  });

  it.each(['http://example.com/latest', 'https://ann:pw@example.com/', 'ftp://x', 'latest'])(
    'refuses %s with one message',
    (url) => {
      expect(() => check(url)).toThrow(
        new RangeError(
          'SERVICE_UPDATE_URL must be an https address without credentials, query and fragment; no release is looked for',
        ),
      );
    },
  );

  it('continues where nothing can be stored, and ignores an invalid file', async () => {
    const { url, asked } = await announcing(saying({ version: '1.3.0' }));
    writeFileSync(join(state, 'holdpoint'), 'a file');
    const updates = check(url);
    updates.newer();
    await vi.waitFor(() => expect(updates.newer()).toBe('1.3.0'), { timeout: 20_000, interval: 5 });
    expect(asked.length).toBe(1);
  });
});
