import type { JsonValue } from '../../machines/json.ts';
import type { Demo } from './demo.ts';
import { findOrder, readOrders } from './orders.ts';

/** Maximum length of a refund's reason in characters. */
const longestReason = 500;

/** What the script answers to a message without an order. */
const help =
  'I refund orders, such as: Please refund order A-1042, it arrived broken. There are 300 orders, A-1001 to A-1300. Looking one up needs nobody; each refund above 20 EUR waits for a person.';

/**
 * Returns the model script for a message: a refund of the order that the message names, with the amount paid, else what can
 * be asked.
 */
export function scriptFor(message: string, orders: string): JsonValue[] {
  const id = /\bA-\d{4}\b/i.exec(message)?.[0].toUpperCase();
  if (id === undefined) return [{ say: help }];
  const order = findOrder(orders, id);
  const lookup = { tool: 'lookup_order', args: { order_id: id } };
  if (order === null) return [lookup];
  const { amount, currency } = order;
  const reason = [...message].slice(0, longestReason).join('');
  return [
    lookup,
    { tool: 'issue_refund', args: { order_id: id, amount, currency, reason } },
    { say: `Order ${id} is refunded. {result}` },
  ];
}

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
