import { execFile } from 'node:child_process';
import type { Log } from '../ports.ts';
import { findProgram, scriptPath } from './find-program.ts';

/** What systemd asks of a service of `Type=notify`. */
export interface NotifySettings {
  /** Where it listens. */
  socket: string;
  /** Milliseconds in which it wants to hear that the service lives; `null` when it does not ask. */
  watchdog: number | null;
}

/** What there is to say, such as `{READY: '1'}`. */
export type ServiceNews = Readonly<Record<string, string>>;

/** Tells the manager of services how this one is; nothing where none listens. Never rejects. */
export type Notify = (news: ServiceNews) => Promise<void>;

/** Milliseconds that systemd has to take a message. */
const patience = 5_000;

/**
 * Takes out of an environment what systemd says to this process alone, so that nothing which is started from here can
 * speak for it; `null` where systemd asks nothing.
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
 * Creates what tells systemd news. Node has no sockets of that kind, so the program `systemd-notify` of systemd
 * itself is called, one message after the other; it speaks for this process where the unit has `NotifyAccess=all`.
 */
export function createNotifier(
  { settings, log }: { settings: NotifySettings | null; log: Pick<Log, 'warn'> },
  program = findProgram('systemd-notify'),
): Notify {
  if (settings === null) return () => Promise.resolve();
  if (program === null) {
    const missing =
      'NOTIFY_SOCKET is set and there is no systemd-notify, so systemd is told nothing; install the package systemd, or set Type=exec';
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
          log.warn({ reason: stderr.trim() || error.message }, 'systemd could not be told');
        }
        resolve();
      });
    });
  let last: Promise<void> = Promise.resolve();
  return (news) => (last = last.then(() => send(news)));
}
