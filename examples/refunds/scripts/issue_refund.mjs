import { createHash, randomUUID } from 'node:crypto';
import { fromCents, toCents } from './money.mjs';
import { changeOrder } from './orders.mjs';
import { run } from './run.mjs';

await run(async ({ order_id: id, amount, currency, reason = '' }) => {
  const refundId = refundIdOfThisCall();
  const order = await changeOrder(id, (current) =>
    refunded(current, { refundId, amount, currency, reason }),
  );
  return {
    refund_id: order.refund_id,
    order_id: order.order_id,
    amount: Number(order.refund_amount),
    currency: order.currency,
    customer: order.customer,
    refunded_at: order.refunded_at,
  };
});

/** The same call always makes the same refund, so a call that is run again pays nothing twice. */
function refundIdOfThisCall() {
  const { SERVICE_TASK_ID: task = '', SERVICE_TOOL_CALL_ID: call } = process.env;
  const seed = call ? JSON.stringify([task, call]) : randomUUID();
  return `R-${createHash('sha256').update(seed).digest('hex').slice(0, 12)}`;
}

function refunded(order, { refundId, amount, currency = order.currency, reason }) {
  if (order.refund_id === refundId) return order;
  const { order_id: id } = order;
  if (order.refund_id !== '') {
    throw new Error(
      `order ${id} was already refunded on ${order.refunded_at.slice(0, 10)} (${order.refund_id}); an order is refunded once`,
    );
  }
  if (order.status !== 'shipped' && order.status !== 'delivered') {
    throw new Error(
      `order ${id} is ${order.status}; only shipped and delivered orders are refunded`,
    );
  }
  if (currency !== order.currency) {
    throw new Error(`order ${id} was paid in ${order.currency}, not in ${currency}`);
  }
  const paid = toCents(order.amount);
  const cents = amount === undefined ? paid : toCents(amount);
  if (cents > paid) {
    throw new Error(
      `${fromCents(cents)} ${currency} is more than the ${order.amount} ${currency} paid for order ${id}`,
    );
  }
  return {
    ...order,
    status: 'refunded',
    refund_id: refundId,
    refund_amount: fromCents(cents),
    refund_reason: reason,
    refunded_at: new Date().toISOString(),
  };
}
