import { run, variable } from './run.mjs';
import { askStripe } from './stripe.mjs';

await run(async ({ payment, amount, reason }) => {
  const refund = await askStripe(['refunds'], {
    form: {
      payment_intent: payment,
      ...(amount === undefined ? {} : { amount: String(amount) }),
      'metadata[reason]': reason,
    },
    key: variable('SERVICE_TOOL_CALL_ID'),
  });
  const { id, amount: paid, currency, status } = refund;
  return { refund: id, payment, amount: paid, currency, status };
});
