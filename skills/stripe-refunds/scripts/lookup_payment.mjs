import { run } from './run.mjs';
import { askStripe } from './stripe.mjs';

await run(async ({ payment }) => {
  const found = await askStripe(['payment_intents', payment], { expand: ['latest_charge'] });
  const { id, amount_received: paid, currency, status, created, latest_charge: charge } = found;
  return {
    ...{ id, status, paid, refunded: charge?.amount_refunded ?? 0, currency },
    created: new Date(created * 1000).toISOString(),
  };
});
