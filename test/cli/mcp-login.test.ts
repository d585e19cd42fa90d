import { createInterface } from 'node:readline';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { startTokenIssuer } from '../helpers/token-issuer.ts';
import { startToolServer } from '../helpers/tool-server.ts';
import { cleanUp, holdpoint, startCommand, startDaemon } from './holdpoint.ts';

afterAll(cleanUp);

it('mcp login signs the agent in by a browser redirect, and mcp logout signs it out', async () => {
  const issuer = await startTokenIssuer();
  const shop = await startToolServer(['find_order']);
  shop.instead = ({ headers }, response) => {
    if (headers.authorization === `Bearer ${issuer.latest}`) return false;
    response.writeHead(401).end();
    return true;
  };
  const auth = { type: 'authorization_code', issuer: issuer.issuer };
  const folder = new AgentFolder({
    gate: {},
    server: { mcp: true },
    mcp: { servers: [{ name: 'shop', url: shop.url, tools: { deny: [] }, auth }] },
  });
  onTestFinished(() => folder.remove());
  const { path } = folder;
  const daemon = await startDaemon(path);
  const listed = async () => (await holdpoint(['mcp', 'list', '--dir', path])).stdout;
  expect(await listed()).toMatch(
    /^shop http:.*\n {2}not connected: it needs a sign-in; run `.*mcp login shop`; it needs a person; no calls yet\n/,
  );
  const login = startCommand(['mcp', 'login', 'shop', '--dir', path]);
  const lines = createInterface({ input: login.child.stdout! })[Symbol.asyncIterator]();
  const address = String((await lines.next()).value);
  const back = `${new URL(address).searchParams.get('redirect_uri')}?`;
  // A foreign page in the browser ends nothing.
  expect((await fetch(`${back}code=stolen&state=foreign`)).status).toBe(404);
  expect((await fetch(back + issuer.signIn(address))).status).toBe(200);
  const { code, stderr } = await login.ended;
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`the agent is signed in to shop at ${issuer.issuer}`),
  ]);
  await vi.waitFor(
    async () => expect(await listed()).toMatch(/\n {2}connected since .*; no calls yet\n/),
    patient,
  );
  const doctor = await holdpoint(['doctor', '--dir', path]);
  expect(doctor.stdout).toContain('connected to 1 MCP server');
  expect((await holdpoint(['mcp', 'logout', 'shop', '--dir', path])).stdout).toBe(
    'signed out of shop\n',
  );
  const unknown = await holdpoint(['mcp', 'login', 'crm', '--dir', path]);
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    `error: there is no MCP server of this name; see what there is with: holdpoint mcp list --dir ${path}\n`,
  ]);
  const { stdout, stderr: said } = await daemon.stop();
  for (const text of ['access-1', 'refresh-1']) expect(stdout + said).not.toContain(text);
});
