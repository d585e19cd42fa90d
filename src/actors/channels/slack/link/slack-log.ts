import { type Logger, LogLevel } from '@slack/web-api';
import { keptStart } from '../../../../machines/text.ts';
import type { Log } from '../../../ports.ts';

/** Maximum length of Slack's own words in the log. */
const longest = 300;

const tokens = /\b(?:xox[a-z]|xapp)[\w-]*/gi;

/**
 * Writes the log of Slack's libraries to the log of the daemon. Their entries below warnings show whole payloads and
 * headers, and are dropped; a failure reaches its caller as an error and is not logged twice.
 */
export function slackLog(log: Log): Logger {
  const warn = (...said: unknown[]) => {
    const [first, ...others] = said;
    // With more than one part it is about a request that failed.
    if (typeof first !== 'string' || others.length > 0) return;
    log.warn({ said: withoutTokens(first) }, 'slack: the service has a remark on a call');
  };
  return { ...silentSlackLog, warn, error: warn };
}

/** Drops the log of Slack's libraries. */
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
