import { execFile } from 'node:child_process';
import type { Log } from '../ports/log.ts';
import { findProgram, scriptPath } from './find-program.ts';

/** Settings that systemd passes to a `Type=notify` service. */
export interface NotifySettings {
  /** Path of the notification socket. */
  socket: string;
  /** Watchdog interval in milliseconds; `null` if the watchdog is off. */
  watchdog: number | null;
}

/** Status assignments, such as `{READY: '1'}`. */
export type ServiceNews = Readonly<Record<string, string>>;

/** Sends status to the service manager; does nothing if there is none. Never rejects. */
export type Notify = (news: ServiceNews) => Promise<void>;

/** Timeout for systemd to accept a message, in milliseconds. */
const patience = 5_000;

/**
 * Removes systemd's notification variables from an environment, so that no child process can send notifications for
 * this one; `null` if systemd requests none.
 */
export function takeNotifySettings(env: NodeJS.ProcessEnv): NotifySettings | null {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: every, WATCHDOG_PID: pid } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
  if (socket === undefined || socket === '') return null;
  const isMeant = pid === undefined || pid === String(process.pid);
  const microseconds = /^\d{1,15}$/.test(every ?? '') && isMeant ? Number(every) : 0;
  return { socket, watchdog: microseconds >= 1_000 ? microseconds / 1_000 : null };
}

/**
 * Creates the function that sends notifications to systemd. Node does not support such sockets, so systemd's own
 * `systemd-notify` is called, one message at a time; it acts for this process if the unit sets `NotifyAccess=all`.
 */
export function createNotifier(
  { settings, log }: { settings: NotifySettings | null; log: Pick<Log, 'warn'> },
  program = findProgram('systemd-notify'),
): Notify {
  if (settings === null) return () => Promise.resolve();
  if (program === null) {
    const missing =
      'NOTIFY_SOCKET is set but systemd-notify is missing, so systemd is not notified; install the package systemd, or set Type=exec';
    log.warn({}, missing);
    return () => Promise.resolve();
  }
  const env = { NOTIFY_SOCKET: settings.socket, PATH: scriptPath };
  let isComplained = false;
  const send = (news: ServiceNews): Promise<void> =>
    new Promise((resolve) => {
      const words = Object.entries(news).map(([name, value]) => `${name}=${value}`);
      execFile(program, words, { env, timeout: patience }, (error, _, stderr) => {
        if (error !== null && !isComplained) {
          isComplained = true;
          log.warn({ reason: stderr.trim() || error.message }, 'systemd could not be notified');
        }
        resolve();
      });
    });
  let last: Promise<void> = Promise.resolve();
  return (news) => (last = last.then(() => send(news)));
}
