import type { JsonObject } from '../../machines/json.ts';

/** A call that Slack answers with `ok: false`; the message is Slack's code. */
export class SlackRefusal extends Error {
  readonly code = 'slack_refusal';
  /** The further fields of the answer. */
  readonly details: JsonObject;

  constructor(error: string, details: JsonObject = {}) {
    super(error);
    this.details = details;
  }
}

/** Refuses malformed blocks, views and other arguments as Slack does, with the problem and its place. */
export function malformed(error: string, problem: string, pointer: string): SlackRefusal {
  const messages = [`[ERROR] ${problem} [json-pointer:${pointer}]`];
  return new SlackRefusal(error, { response_metadata: { messages } });
}
