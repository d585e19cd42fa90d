import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createNotifier,
  takeNotifySettings,
} from '../../../src/actors/process/service-notifier.ts';

let folder: string;
let warnings: unknown[][];
const log = { warn: (...said: unknown[]) => void warnings.push(said) };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-test-'));
  warnings = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

const settings = { socket: '/run/notify', watchdog: null };

/** A program that notes how it is called. */
function program(then = ''): string {
  const path = join(folder, 'notify');
  writeFileSync(
    path,
    `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${folder}/calls\nenv >> ${folder}/env\n${then}\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

const calls = (): string => readFileSync(join(folder, 'calls'), 'utf8');

describe('takeNotifySettings', () => {
  it.each([
    [{}, null],
    [{ NOTIFY_SOCKET: '' }, null],
    [{ WATCHDOG_USEC: '1000000' }, null],
    [{ NOTIFY_SOCKET: '@abstract' }, { socket: '@abstract', watchdog: null }],
    [
      { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '30000000', WATCHDOG_PID: String(process.pid) },
      { socket: '/run/n', watchdog: 30_000 },
    ],
    [
      { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1' },
      { socket: '/run/n', watchdog: null },
    ],
    [
      { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: 'soon' },
      { socket: '/run/n', watchdog: null },
    ],
    [
      { NOTIFY_SOCKET: '/run/n', WATCHDOG_USEC: '0' },
      { socket: '/run/n', watchdog: null },
    ],
  ])('reads %j as %j, and removes it from the environment', (given, expected) => {
    const env: NodeJS.ProcessEnv = { ...given, HOME: '/root' };
    expect(takeNotifySettings(env)).toEqual(expected);
    expect(env).toEqual({ HOME: '/root' });
  });
});

describe('a service notifier', () => {
  it('sends one message after the other, without the environment of the daemon', async () => {
    const notify = createNotifier({ settings, log }, program());
    process.env['SERVICE_TEST_SECRET'] = 'hidden';
    await Promise.all([notify({ READY: '1', STATUS: 'ready; $(id)' }), notify({ STOPPING: '1' })]);
    delete process.env['SERVICE_TEST_SECRET'];
    expect(calls()).toBe('/run/notify READY=1 STATUS=ready; $(id)\n/run/notify STOPPING=1\n');
    expect(readFileSync(join(folder, 'env'), 'utf8')).not.toContain('hidden');
    expect(warnings).toEqual([]);
  });

  it('logs a failure once, and continues', async () => {
    const notify = createNotifier({ settings, log }, program('echo "no such socket" >&2; exit 1'));
    await notify({ READY: '1' });
    await notify({ STOPPING: '1' });
    expect(calls()).toContain('STOPPING=1');
    expect(warnings).toEqual([[{ reason: 'no such socket' }, 'systemd could not be notified']]);
  });

  it('names a missing notify program', async () => {
    await createNotifier({ settings, log }, null)({ READY: '1' });
    expect(warnings).toEqual([[{}, expect.stringContaining('systemd-notify is missing')]]);
  });

  it('does nothing without a socket', async () => {
    await createNotifier({ settings: null, log }, program())({ READY: '1' });
    expect(existsSync(join(folder, 'calls'))).toBe(false);
    expect(warnings).toEqual([]);
  });
});
