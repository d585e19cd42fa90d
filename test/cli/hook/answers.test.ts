import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hook } from '../../../src/cli/hook/hook.ts';
import { dialects } from '../../../src/http/hooks/dialects.ts';

const claude = {
  ...{ session_id: 's', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 't' },
  tool_input: { command: 'ls' },
};

/** An event of each coding agent, and what its hook prints for a permission. */
const hosts: Record<string, [event: object, allowed: string]> = {
  'claude-code': [
    claude,
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\n',
  ],
  codex: [claude, ''],
  cursor: [
    {
      ...{ hook_event_name: 'preToolUse', conversation_id: 'c', tool_use_id: 't' },
      ...{ tool_name: 'Shell', tool_input: { command: 'ls' } },
    },
    '{"permission":"allow"}\n',
  ],
  copilot: [{ toolName: 'bash', toolArgs: { command: 'ls' } }, '{"permissionDecision":"allow"}\n'],
  opencode: [
    {
      ...{ event: 'tool.execute.before', sessionID: 's', callID: 'c', tool: 'bash' },
      args: { command: 'ls' },
    },
    '{"decision":"allow"}\n',
  ],
};

/** Starts a program that answers every request with a body and 200; returns its address. */
async function listener(body: string, type = 'application/json'): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', type).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a program that changes the protocol of each connection; returns its address. */
async function upgrader(): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answered(host: string, body: string, type?: string) {
  return answeredAt(host, await listener(body, type));
}

function answeredAt(host: string, url: string) {
  const words = [host, '--url', url];
  const [event] = hosts[host] ?? [];
  const stdin = (async function* () {
    yield Buffer.from(JSON.stringify(event));
  })();
  return hook(words, { stdin, env: {} });
}

const none = [
  ...['', ' ', '{}', '[]', 'null', '""', 'true', 'allow', '<html>sign in</html>', '{"ok": true}'],
  ...['{"decision": "approve"}', '{"permission": "ask"}', '{"permissionDecision": "ask"}'],
  ...[
    '{"decision": "deny"}',
    '{"permission": "deny"}',
    '{"permissionDecision": "deny", "reason": 1}',
  ],
  ...['{"hookSpecificOutput": {"permissionDecision": "allow"}}', '{"hookSpecificOutput": "allow"}'],
  '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}',
  '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}',
  '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}',
  '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": []}}',
  '{"permission": "allow", "updated_input": "x"}',
  '{"decision": "allow", "args": 1}',
];

describe.each(Object.keys(hosts))('the hook of %s', (host) => {
  const dialect = dialects.get(host);
  const form = (answer: object | undefined) => JSON.stringify(answer);

  it('blocks the call for an answer without a decision', async () => {
    const why =
      'Holdpoint blocked the call: the answer is no decision, so another program may listen in place of the gate; check its address';
    // Copilot ignores this form of changed arguments, as the gate never sends it.
    const bodies = none.filter((body) => host !== 'copilot' || !body.includes('updated_input'));
    for (const body of bodies) {
      expect([body, await answered(host, body, 'text/html')]).toEqual([body, dialect?.block(why)]);
    }
  });

  it('blocks the call for an answer with another protocol', async () => {
    const why =
      'Holdpoint blocked the call: the answer changes the protocol, so another program may listen';
    expect(await answeredAt(host, await upgrader())).toEqual(dialect?.block(why));
  });

  it('passes a permission, changed arguments and a denial', async () => {
    const [, allowed] = hosts[host] ?? [];
    const done = { stderr: '', exitCode: 0 };
    expect(await answered(host, form(dialect?.allow(null)))).toEqual({ ...done, stdout: allowed });
    const denial = form(dialect?.deny('no'));
    expect(await answered(host, denial)).toEqual({ ...done, stdout: `${denial}\n` });
    const changed = form(dialect?.allow({ command: 'pwd' }));
    const isApplied = host !== 'copilot';
    expect(await answered(host, changed)).toEqual({
      ...{ ...done, stdout: isApplied ? `${changed}\n` : allowed },
    });
  });
});
