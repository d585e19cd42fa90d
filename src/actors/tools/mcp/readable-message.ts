import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { inexactNumber, inexactSentence } from '../../../machines/exact-json.ts';
import { mendedMessage } from './mended-message.ts';

const newline = 0x0a;

/** Every forwarded result with numbers contains one of these keys; the second is from before 2024-11-05. */
const marks = ['structuredContent', 'toolResult'] as const;

/**
 * Returns a server's message unchanged, or an error in place of a result with a number that parsing would change; a
 * rounded number would misquote the server.
 */
function exactMessage(text: string): string {
  if (!marks.some((mark) => text.includes(mark))) return text;
  const inexact = inexactNumber(text);
  if (inexact === null) return text;
  try {
    const { id, result } = JSON.parse(text) as { id?: unknown; result?: Record<string, unknown> };
    // The state of a task that has ended contains its result (MCP 2026-07-28).
    const results = [result, result?.['result'] as typeof result | null];
    if (marks.every((mark) => results.every((one) => one?.[mark] === undefined))) return text;
    const error = { code: ProtocolErrorCode.InternalError, message: inexactSentence(inexact) };
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  } catch {
    return text;
  }
}

/** Returns a server's message in the form that the agent accepts. */
export function readableMessage(text: string): string {
  return mendedMessage(exactMessage(text));
}

/**
 * Applies `readableMessage` to each message in an HTTP response body, single or as an event stream. `see` receives each
 * chunk of the body.
 */
export function readableBody(
  isStream: boolean,
  see: (text: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let kept: Uint8Array[] = [];
  const take = (): Buffer => {
    const bytes = Buffer.concat(kept);
    kept = [];
    const text = bytes.toString();
    see(text);
    if (!isStream) return Buffer.from(readableMessage(text));
    return Buffer.from(text.split('\n').map(readableLine).join('\n'));
  };
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? chunk.lastIndexOf(newline) + 1 : 0;
      if (end > 0) {
        kept.push(chunk.subarray(0, end));
        controller.enqueue(take());
      }
      if (end < chunk.length) kept.push(chunk.subarray(end));
    },
    flush: (controller) => controller.enqueue(take()),
  });
}

function readableLine(line: string): string {
  const [, start = '', json] = /^(data:\s*)(.*?)\r?$/s.exec(line) ?? [];
  return json === undefined ? line : start + readableMessage(json);
}
