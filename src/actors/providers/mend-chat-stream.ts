import { hasRepeatedKey, measureJson, readExactJson } from '../../machines/exact-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

const newline = 0x0a;

/** Patterns of nonstandard events that the packages cannot read; each is unambiguous in the raw bytes. */
const odd = {
  /** Call arguments as an object instead of JSON text. */
  argumentsAsObject: /"arguments"\s*:\s*\{/,
  choicesAsNull: /"choices"\s*:\s*null/,
  countAsText: /_tokens"\s*:\s*"/,
};

/** An event with a server error is passed unchanged. */
const known = /"(choices|error)"/;

/**
 * Wraps a fetch for the chat API and normalises nonstandard events of some servers. Object arguments become JSON text,
 * an event without choices gets an empty list, and token counts given as text become numbers. An event with a number
 * that would lose precision, or with a duplicate key, is left for the package to refuse.
 */
export function mendChatStream(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, headers, body, ok } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (body === null || !ok || !isStream) return response;
    return new Response(body.pipeThrough(mendLines()), { status, statusText, headers });
  };
}

/** Transforms complete lines. */
function mendLines(): TransformStream<Uint8Array, Uint8Array> {
  let rest: Buffer = Buffer.alloc(0);
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(newline) + 1;
      if (end === 0) {
        rest = Buffer.concat([rest, chunk]);
        return;
      }
      controller.enqueue(mended(Buffer.concat([rest, chunk.subarray(0, end)])));
      rest = Buffer.from(chunk.subarray(end));
    },
    flush(controller) {
      if (rest.length > 0) controller.enqueue(mended(rest));
    },
  });
}

function mended(lines: Buffer): Buffer {
  const text = lines.toString();
  const before = text.split('\n');
  const after = before.map(mendedLine);
  return after.every((line, index) => line === before[index])
    ? lines
    : Buffer.from(after.join('\n'));
}

function mendedLine(line: string): string {
  const [, start = '', json = ''] = /^(data:\s*)(\{.*)$/s.exec(line) ?? [];
  if (json === '' || (known.test(json) && !Object.values(odd).some((each) => each.test(json)))) {
    return line;
  }
  try {
    const event = readExactJson(json);
    return hasRepeatedKey(event, measureJson(json))
      ? line
      : start + JSON.stringify(mendedEvent(event));
  } catch {
    return line;
  }
}

function mendedEvent(event: JsonValue): JsonValue {
  if (!isJsonObject(event)) return event;
  for (const choice of listIn(event, 'choices')) {
    for (const call of listIn(memberOf(choice, 'delta'), 'tool_calls')) {
      const asked = memberOf(call, 'function') as { arguments?: unknown } | undefined;
      if (typeof asked?.arguments !== 'object' || asked.arguments === null) continue;
      asked.arguments = JSON.stringify(asked.arguments);
    }
  }
  const { choices, error, usage } = event;
  return {
    ...event,
    ...(error === undefined && (choices ?? null) === null ? { choices: [] } : {}),
    ...(isJsonObject(usage) ? { usage: mendedUsage(usage) } : {}),
  };
}

/** Drops a count that is not a number. */
function mendedUsage(usage: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(usage).flatMap(([name, count]) => {
      if (typeof count !== 'string') return [[name, count]];
      return /^\d{1,15}$/.test(count) ? [[name, Number(count)]] : [];
    }),
  );
}

function listIn(holder: unknown, name: string): unknown[] {
  const list = memberOf(holder, name);
  return Array.isArray(list) ? list : [];
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
}
