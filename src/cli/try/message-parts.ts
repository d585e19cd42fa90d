import type { JsonValue } from '../../machines/json.ts';
import type { Demo } from './demo.ts';
import { readOrders } from './orders.ts';
import { scriptFor } from './refund-script.ts';

/** Returns the parts of a message to the agent: the text, and the script if the model is scripted. */
export async function messageParts(
  text: string,
  { directory, thinking }: Pick<Demo, 'directory' | 'thinking'>,
): Promise<JsonValue[]> {
  const said = { kind: 'text', text };
  if (thinking.thinker !== null) return [said];
  const script = scriptFor(text, await readOrders(directory));
  return [said, { kind: 'data', data: { script } }];
}
