import type { JsonValue } from '../../machines/json.ts';
import { findOrder } from './orders.ts';

/** Longest reason that the refund tool takes, in characters. */
const longestReason = 500;

/**
 * Returns the script of the model for a message: the refund of the order that it names, with the amount paid, else an
 * echo.
 */
export function scriptFor(message: string, orders: string): JsonValue[] {
  const id = /\bA-\d{4}\b/i.exec(message)?.[0].toUpperCase();
  if (id === undefined) return [{ say: `echo: ${message}` }];
  const amount = findOrder(orders, id)?.amount;
  const lookup = { tool: 'lookup_order', args: { order_id: id } };
  if (amount === undefined) return [lookup];
  const reason = [...message].slice(0, longestReason).join('');
  return [
    lookup,
    { tool: 'issue_refund', args: { order_id: id, amount, reason } },
    { say: `Order ${id} is refunded. {result}` },
  ];
}
