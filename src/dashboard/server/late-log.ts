import type { Log } from '../../actors/ports/log.ts';

type Level = keyof Log;

/**
 * Creates a log that loads its implementation at the first message and keeps the order of messages. A command that logs
 * nothing starts faster.
 */
export function lateLog(load: () => Promise<Log>): Log {
  let writing: Promise<Log> | null = null;
  const write =
    (level: Level) =>
    (fields: object, message: string): void => {
      writing = (writing ?? load()).then((log) => {
        log[level](fields, message);
        return log;
      });
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}
