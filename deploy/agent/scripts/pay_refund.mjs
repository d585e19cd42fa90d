const { order, amount } = JSON.parse(process.argv[2]);
const response = await fetch('https://payments.example.com/refunds', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'idempotency-key': process.env.SERVICE_TOOL_CALL_ID,
  },
  body: JSON.stringify({ order, amount }),
});
if (!response.ok) throw new Error(`the payment service answers ${response.status}`);
console.log(`paid ${amount} for order ${order}`);
