import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { HoldsAdapter, Person } from '../../packages/testing/holds/holds.ts';

/** The holds of a gate that a command starts, whose callers have tokens such as `token-of-rita`. */
export function gateHolds(program: string, args: readonly string[]): HoldsAdapter {
  const { address, ...daemon } = daemonOf(program, args);
  const request = async (by: Person, method: string, path: string, content?: object) => {
    const headers = { authorization: `Bearer token-of-${by}`, 'content-type': 'application/json' };
    const body = content === undefined ? null : JSON.stringify(content);
    const response = await fetch(address() + path, { method, headers, body });
    const { error, hold_id: id, args_sha256: digest, ...rest }: any = await response.json();
    if (response.status >= 500) throw new Error(`${path}: ${response.status} ${error}`);
    const approver = rest.approver?.split('@')[0];
    return response.ok ? { ...rest, id, digest, approver } : { refused: String(error) };
  };
  const pathOf = (id: string) => `/holds/${encodeURIComponent(id)}`;
  const refusal = (refused: string | undefined) =>
    refused === undefined ? undefined : { refused };
  return {
    ...daemon,
    name: 'Holdpoint',
    features: [
      ...(['callers', 'approvers', 'fourEyes', 'approver', 'note', 'edit', 'digest'] as const),
      ...(['claim', 'schema', 'tools', 'notRun', 'limit', 'limitAsks', 'effect'] as const),
    ],
    expiresWithin: 3_000,
    ask: ({ soon, by, tool, ...call }) =>
      request(by, 'POST', '/holds', { ...call, tool: soon ? `${tool}_soon` : tool }),
    read: (id, by) => request(by, 'GET', pathOf(id)),
    async waiting() {
      const { deferrals } = await request('ann', 'GET', '/deferrals?limit=500');
      return deferrals.map(({ task_id: id, tool, args }: any) => ({ id, tool, args }));
    },
    async decide(id, { by, digest, ...decision }) {
      const content = { ...decision, args_sha256: digest };
      return refusal((await request(by, 'POST', `${pathOf(id)}/decisions`, content)).refused);
    },
    async cancel(id, by) {
      const { refused, status } = await request(by, 'DELETE', pathOf(id));
      return refusal(status === 'cancelled' ? undefined : (refused ?? status));
    },
    async take(id, by, claim) {
      const path = claim === undefined ? pathOf(id) : `${pathOf(id)}?claim=${claim}`;
      const { refused, status, released, args } = await request(by, 'GET', path);
      return status === 'approved' && released === false ? args : { refused: refused ?? status };
    },
    async report(id, outcome, by) {
      return refusal((await request(by, 'POST', `${pathOf(id)}/outcome`, outcome)).refused);
    },
  };
}

const people: readonly Person[] = ['rita', 'ann', 'ben', 'eve'];

/** A process with the tokens of all people in its environment. */
function daemonOf(program: string, args: readonly string[]) {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> | undefined;
  let url = '';
  const end = (signal: NodeJS.Signals) => async () => {
    child?.kill(signal);
    await ended;
  };
  return {
    address: () => url,
    async start() {
      const tokens = people.map((name) => [`TOKEN_OF_${name}`, `token-of-${name}`]);
      const env = { ...process.env, ...Object.fromEntries(tokens) };
      const started = spawn(program, args, { env });
      [child, ended] = [started, once(started, 'exit')];
      let said = '';
      started.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-2_000)));
      for await (const line of createInterface({ input: started.stdout })) {
        url = /ready at (http:\S+)/.exec(line)?.[1] ?? '';
        if (url !== '') return void started.stdout.resume();
      }
      throw new Error(`the gate did not start: ${said}`);
    },
    ...{ stop: end('SIGTERM'), kill: end('SIGKILL'), close: end('SIGKILL') },
  };
}
