import { longestCapture } from '../records/records.ts';
import { type Finding, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

const path = ['audit', 'capture'];

/**
 * Warns if content is captured in the audit log, where only the built-in secret rules protect it from readers, and if
 * the requested length exceeds a line's limit (docs/contract/audit.md).
 */
export function checkCapture({ audit: { capture } }: ServiceConfig): Finding[] {
  const contents = (['tool_args', 'tool_result', 'llm_messages'] as const).filter(
    (name) => capture[name],
  );
  if (contents.length === 0) return [];
  const captured = warningAt(
    path,
    `the audit log stores contents (${contents.join(', ')}): restrict who can read it`,
  );
  if (capture.max_bytes <= longestCapture) return [captured];
  const tooLong = `a line stores at most ${longestCapture} bytes of a string; set max_bytes: ${longestCapture}`;
  return [captured, warningAt([...path, 'max_bytes'], tooLong)];
}
