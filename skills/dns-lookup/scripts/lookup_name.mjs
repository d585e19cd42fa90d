import { addressOf, askJson } from './http.mjs';
import { run } from './run.mjs';

const numbers = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
};
const names = Object.fromEntries(Object.entries(numbers).map(([name, number]) => [number, name]));
const statuses = {
  0: 'found',
  2: 'the servers of the name fail',
  3: 'there is no such name',
  5: 'refused',
};

await run(async ({ name, type = 'A' }) => {
  const url = addressOf(process.env.DNS_OVER_HTTPS_URL || 'https://dns.google/resolve');
  url.pathname = url.pathname.replace(/\/$/, '');
  url.searchParams.set('name', name);
  url.searchParams.set('type', type);
  const answer = await askJson(url, { headers: { accept: 'application/dns-json' } });
  const records = (answer.Answer ?? []).slice(0, 100).map((record) => ({
    ...{ name: record.name, type: names[record.type] ?? String(record.type) },
    ...{ ttl: record.TTL, value: record.data },
  }));
  return { name, type, result: statuses[answer.Status] ?? `status ${answer.Status}`, records };
});
