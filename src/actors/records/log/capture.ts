import type { Heard, TaskFact } from '../../../machines/domain/facts.ts';
import type { Message } from '../../../machines/domain/task.ts';
import type { JsonValue } from '../../../machines/json.ts';
import { cutToBytes, type ShownText } from './cut-to-bytes.ts';

/** `audit.capture`: the contents to log, and the maximum bytes of each. */
export interface CaptureSettings {
  tool_args: boolean;
  tool_result: boolean;
  llm_messages: boolean;
  max_bytes: number;
}

/** Contents of one event as texts: arguments and messages as JSON, a result as the tool returned it. */
export interface CapturedContents {
  args?: string;
  result?: string;
  /** Replaces the kind of a failure. */
  error?: string;
  messages?: string;
}

/** Returns the contents of a fact that may be logged; never throws. */
export type Capture = (fact: TaskFact) => CapturedContents;

/** Maximum length of a captured text in bytes; a larger `max_bytes` has no effect. */
export const longestCapture = 16 * 1024;

/** Characters scanned beyond the cut, so that a secret at the cut is recognised whole. */
const margin = 64 * 1024;

/** Maximum texts of one value that are scanned individually; further ones are omitted. */
const mostTexts = 1_000;

const unscrubbed = '[omitted: the search for secrets failed]';

/**
 * Creates the content capture of the audit log (docs/contract/configuration.md, docs/contract/audit.md); `null` if
 * nothing is captured. Secrets are scrubbed before a string is truncated; the truncation marker states the original size.
 *
 * @param makeScrub called when content is captured; returns a function that removes secrets from a string. If either
 * throws, the text is omitted
 */
export function createCapture(
  { max_bytes, ...wanted }: CaptureSettings,
  makeScrub: () => (text: string) => string,
): Capture | null {
  if (!wanted.tool_args && !wanted.tool_result && !wanted.llm_messages) return null;
  const scrub = makeScrub();
  const limit = Math.min(max_bytes, longestCapture);
  const shown = (text: string, originalSize: () => number): string =>
    cutToBytes({ ...scrubStart(text, limit, scrub), originalSize }, limit);
  const plain = (text: string) => shown(text, () => Buffer.byteLength(text));
  const json = (value: JsonValue) =>
    shown(scrubTexts(value, limit, scrub), () => Buffer.byteLength(JSON.stringify(value)));
  return (fact) => {
    if (fact.type === 'tool.started' && wanted.tool_args) {
      return { args: guarded(() => json(fact.args)) };
    }
    if (fact.type === 'deferral.opened' && wanted.tool_args) {
      return { args: guarded(() => json(fact.deferral.args)) };
    }
    if (fact.type === 'tool.ended' && wanted.tool_result && fact.result !== undefined) {
      const { result } = fact;
      return { result: guarded(() => plain(result)) };
    }
    if (fact.type === 'tool.ended' && wanted.tool_result && fact.complaint !== undefined) {
      const { complaint } = fact;
      return { error: guarded(() => plain(complaint)) };
    }
    if (fact.type === 'model.called' && wanted.llm_messages) {
      return { messages: guarded(() => json(messagesOf(fact))) };
    }
    return {};
  };
}

function guarded(text: () => string): string {
  try {
    return text();
  } catch {
    return unscrubbed;
  }
}

type ModelCalled = Extract<TaskFact, { type: 'model.called' }>;

/** Returns the messages of one turn in order: the request, or the results since the previous turn, and the answer. */
function messagesOf({ heard, said }: ModelCalled): JsonValue {
  const answer =
    said === null
      ? []
      : [
          {
            role: 'agent',
            ...(said.text === '' ? {} : { text: said.text }),
            ...(said.calls.length === 0
              ? {}
              : { calls: said.calls.map(({ id, tool, args }) => ({ id, tool, args })) }),
          },
        ];
  return [...toldTo(heard), ...answer];
}

function toldTo({ request, exchanges, followUps }: Heard): JsonValue[] {
  const bare = ({ role, parts }: Message) => ({ role, parts });
  const asked = request === null ? [] : [bare(request)];
  const results = exchanges.map(({ call: { id, tool }, result }) => ({
    role: 'tool',
    id,
    tool,
    content: result,
  }));
  return [...asked, ...results, ...followUps.map(bare)] as unknown as JsonValue[];
}

/** Serialises a value; a string whose JSON form differs from it is also scrubbed in its raw form. */
function scrubTexts(value: JsonValue, limit: number, scrub: (text: string) => string): string {
  let texts = 0;
  let length = 0;
  return JSON.stringify(value, (_key, member: JsonValue) => {
    if (typeof member !== 'string' || !/["\\\p{Cc}\p{Cs}]/u.test(member)) return member;
    texts += 1;
    if (texts > mostTexts || length > limit) return '[left out]';
    const { text } = scrubStart(member, limit, scrub);
    length += text.length;
    return text;
  });
}

/**
 * Scrubs only the part of a string that can be shown. If the text is longer, the end of the part is dropped, since it may
 * contain half a secret.
 */
function scrubStart(
  text: string,
  limit: number,
  scrub: (text: string) => string,
): Pick<ShownText, 'text' | 'isPart'> {
  const looked = limit + 2 * margin;
  if (text.length <= looked) return { text: scrub(text), isPart: false };
  return { text: scrub(text.slice(0, looked)).slice(0, -margin), isPart: true };
}
