import { findOrder } from './orders.mjs';
import { run } from './run.mjs';

await run(async ({ order_id: id }) => {
  const order = await findOrder(id);
  return Object.fromEntries(Object.entries(order).filter(([, value]) => value !== ''));
});
