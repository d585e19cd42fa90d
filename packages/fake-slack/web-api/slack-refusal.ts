import type { JsonObject } from '../../../src/machines/json.ts';

/** A call that Slack answers with `ok: false`. The message is Slack's error code. */
export class SlackRefusal extends Error {
  readonly code = 'slack_refusal';
  /** Additional response fields. */
  readonly details: JsonObject;

  constructor(error: string, details: JsonObject = {}) {
    super(error);
    this.details = details;
  }
}

/**
 * Builds the refusal of malformed blocks, views or other arguments in Slack's format, with the problem and its
 * location.
 */
export function malformed(error: string, problem: string, pointer: string): SlackRefusal {
  const messages = [`[ERROR] ${problem} [json-pointer:${pointer}]`];
  return new SlackRefusal(error, { response_metadata: { messages } });
}
