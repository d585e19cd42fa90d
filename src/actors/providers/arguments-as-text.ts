import { readExactJson } from '../../machines/exact-json.ts';

const newline = 0x0a;

/** Every event that asks for a call has it. */
const mark = Buffer.from('"arguments"');

/** An object where the chat wire has a text. */
const asObject = /"arguments"\s*:\s*\{/;

/**
 * Wraps a fetch for the chat wire: some servers send the arguments of a call as an object instead of the text that it
 * is on that wire, and such a stream passes with the text of that object. One whose numbers reading would change
 * is left for the package to refuse.
 */
export function argumentsAsText(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText, headers, body, ok } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (body === null || !ok || !isStream) return response;
    return new Response(body.pipeThrough(mendLines()), { status, statusText, headers });
  };
}

/** Passes whole lines on. */
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
  if (!lines.includes(mark)) return lines;
  const text = lines.toString();
  if (!asObject.test(text)) return lines;
  return Buffer.from(text.split('\n').map(mendedLine).join('\n'));
}

function mendedLine(line: string): string {
  const [, start = '', json = ''] = /^(data:\s*)(\{.*)$/s.exec(line) ?? [];
  if (!asObject.test(json)) return line;
  try {
    const event = readExactJson(json);
    for (const choice of listIn(event, 'choices')) {
      for (const call of listIn(memberOf(choice, 'delta'), 'tool_calls')) {
        const asked = memberOf(call, 'function') as { arguments?: unknown } | undefined;
        if (typeof asked?.arguments !== 'object' || asked.arguments === null) continue;
        asked.arguments = JSON.stringify(asked.arguments);
      }
    }
    return start + JSON.stringify(event);
  } catch {
    return line;
  }
}

function listIn(holder: unknown, name: string): unknown[] {
  const list = memberOf(holder, name);
  return Array.isArray(list) ? list : [];
}

function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
}
