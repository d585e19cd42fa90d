import { type Logger, LogLevel } from '@slack/web-api';
import { keptStart } from '../../../../machines/text.ts';
import type { Log } from '../../../ports/log.ts';

/** Maximum length of Slack's own text in the log, in characters. */
const longest = 300;

const tokens = /\b(?:xox[a-z]|xapp)[\w-]*/gi;

/**
 * Forwards the log of Slack's libraries to the daemon's log. Entries below warning level contain whole payloads and
 * headers and are dropped. A failure reaches its caller as an error and is not logged twice.
 */
export function slackLog(log: Log): Logger {
  const warn = (...said: unknown[]) => {
    const [first, ...others] = said;
    // Several arguments mean a failed request, whose caller gets the error.
    if (typeof first !== 'string' || others.length > 0) return;
    log.warn({ said: withoutTokens(first) }, 'slack: the service has a remark on a call');
  };
  return { ...silentSlackLog, warn, error: warn };
}

/** Discards the log of Slack's libraries. */
export const silentSlackLog: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};

function withoutTokens(text: string): string {
  return keptStart(text.replaceAll(tokens, '[redacted]'), longest);
}
