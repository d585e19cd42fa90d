import { ModelFailure } from './model-failure.ts';
import { type ModelSubject, nameOf, placeOf } from './model-subject.ts';
import { type OfferedName, refusedTool } from './refused-tool.ts';

/** Further data of a failed response; its message is inspected, but never repeated. */
export interface StatusDetails {
  /** Retry delay that the provider asks for, in milliseconds. */
  retryAfter: number | null;
  message: string;
  /** The offered tools, in order. */
  tools: readonly OfferedName[];
}

/** Maximum characters of a message that are inspected; providers may send any length. */
const looked = 20_000;

const tooLong =
  /context.?length|maximum context|prompt is too long|input is too long|too many (input )?tokens|token count .{0,80} exceeds/i;

const noQuota = /insufficient_quota|exceeded your current quota|credit balance is too low/i;

/** Some providers, such as google, answer a wrong key with a plain 400. */
const badKey = /API_KEY_INVALID|API key (not valid|expired)|invalid[_ ]api[_ ]key/i;

const noTools = /does not support (tools|function)|tool use is not supported/i;

/**
 * Returns the meaning of a provider's status, and whether another model may be called instead
 * (docs/contract/models.md).
 */
export function failureOfStatus(
  status: number,
  subject: ModelSubject,
  { retryAfter, message: said, tools }: StatusDetails,
): ModelFailure {
  const message = said.slice(0, looked);
  const who = nameOf(subject);
  if (status === 429) {
    const why = noQuota.test(message) ? 'has no quota left' : 'is rate limited';
    return new ModelFailure('busy', `${who} ${why} (429); wait, or raise its limit`, retryAfter);
  }
  if (status === 408) return new ModelFailure('late', `${who} took too long (408)`, retryAfter);
  if (status === 529 || status === 503) {
    return new ModelFailure('broken', `${who} is overloaded (${status}); try again`, retryAfter);
  }
  if (status >= 500) {
    return new ModelFailure('broken', `${who} failed (${status}); try again`, retryAfter);
  }
  const size = status === 413 || (status < 500 && tooLong.test(message));
  if (size) {
    const text = `the conversation is longer than ${who} can take (${status}); begin a new one, or name a model that takes more`;
    return new ModelFailure('unusable', text);
  }
  const tool = status === 400 || status === 422 ? refusedTool(message, tools) : null;
  if (tool !== null && !noTools.test(message)) {
    const text = `${who} refused the tool ${tool} (${status}); fix the schema of its arguments, or take the tool from the agent`;
    return new ModelFailure('refused', text);
  }
  return new ModelFailure('refused', refusalOf(status, subject, message));
}

function refusalOf(status: number, subject: ModelSubject, message: string): string {
  const who = nameOf(subject);
  const { provider, model, keyVariable } = subject;
  if (noQuota.test(message) || status === 402) {
    return `${provider} has no credit left (${status}); add some, or use another key`;
  }
  const isKeyFault = status === 400 && badKey.test(message);
  switch (isKeyFault ? 401 : status) {
    case 401:
    case 403:
      return keyVariable === null
        ? `${placeOf(subject)} wants a key (${status}); name the variable that holds it in model.api_key_env`
        : `${provider} refused the key in ${keyVariable} (${status}); check that it is right and may use ${model}`;
    case 404: {
      const fix =
        provider === 'ollama'
          ? `run ollama pull ${model}, or fix model.name`
          : 'fix model.name or model.base_url';
      return `${placeOf(subject)} does not know the model ${model} (404); ${fix}`;
    }
    case 400:
      return noTools.test(message)
        ? `${who} does not support tools (400); use a model that does`
        : `${who} rejected the request (400); check model.name and the schemas of the tools`;
    default:
      return status >= 300 && status < 400
        ? `${placeOf(subject)} answered with a redirect (${status}), which is not followed; write the address it leads to as model.base_url`
        : `${who} answered with status ${status}; check model.base_url and model.name`;
  }
}
