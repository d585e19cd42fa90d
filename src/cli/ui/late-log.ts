import type { Log } from '../../actors/ports.ts';

type Level = keyof Log;

/** Makes a log that is loaded when something is first to be logged, in order: a command that logs nothing starts sooner. */
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
