// Where the money leaves; no test ever runs it.
import { text } from 'node:stream/consumers';

const { order, amount } = JSON.parse(await text(process.stdin));
console.log(`${amount} is paid back for ${order}`);
