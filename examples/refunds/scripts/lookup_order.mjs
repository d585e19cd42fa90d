import { findOrder } from './orders.mjs';
import { run } from './run.mjs';

await run(async ({ order_id: id }) => {
  const order = await findOrder(id);
  const known = Object.entries(order).filter(([, value]) => value !== '');
  return {
    ...Object.fromEntries(known),
    quantity: Number(order.quantity),
    amount: Number(order.amount),
  };
});
