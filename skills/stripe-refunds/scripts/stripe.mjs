import { addressOf, askJson } from './http.mjs';
import { variable } from './run.mjs';

/** Asks Stripe; a form is posted. */
export function askStripe(parts, { form, key, expand = [] } = {}) {
  const url = addressOf(process.env.STRIPE_API_URL || 'https://api.stripe.com', 'v1', ...parts);
  for (const name of expand) url.searchParams.append('expand[]', name);
  return askJson(url, {
    ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form).toString() }),
    headers: {
      authorization: `Bearer ${variable('STRIPE_API_KEY')}`,
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
  });
}
