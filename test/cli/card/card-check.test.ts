import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { holdpointHere } from '../command-here.ts';

it('card check lists the errors of a card, and calls this machine only on request', async () => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: '\u001b[2Jx', url: 'file:///', skills: [] }));
  });
  const url = await listenOnLoopback(server);
  const refused = await holdpointHere(['card', 'check', url]);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('is a loopback address'),
  ]);
  const found = await holdpointHere(['card', 'check', url, '--loopback']);
  expect([found.code, found.stdout]).toEqual([
    5,
    expect.stringContaining('error: url must be an http or https URL'),
  ]);
  expect(found.stdout).not.toContain('\u001b');
  expect(found.stdout.match(/error: url must be/g)).toHaveLength(1);
  expect(found.stdout.match(/the same card as above/g)).toHaveLength(2);
  const told = JSON.parse(
    (await holdpointHere(['--json', 'card', 'check', url, '--loopback'])).stdout,
  );
  expect(told).toMatchObject({ error: { code: 'card_invalid' }, cards: [{ form: '0.3' }, {}, {}] });
  expect(await holdpointHere(['card', 'check', 'file:///x'])).toMatchObject({ code: 2 });
});
