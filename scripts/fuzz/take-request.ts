import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Agent, startAgent } from '../../src/agent/start/start-agent.ts';

/** Statuses of 500 and more that are answers: not built, busy, and another version of HTTP. */
const told = ['501', '503', '505'];

/** Milliseconds within which a connection whose other side says no more must be answered and over. */
const patience = 2_000;

const config = `
agent_id: fuzz
server: {mcp: true, rate_limit: {read_rps: 1000000, read_burst: 1000000, write_rps: 1000000, write_burst: 1000000}}
store: {retention: 1m}
security: {defer: {enabled: true, tools: {pay: {to: "channel:console:desk", timeout: 1s}}}}
`;
const skill = '---\nname: till\ndescription: The till.\n---\n## Tool: pay\n\nPays.\n';

const complaints: string[] = [];
let agent: Promise<Agent> | null = null;

function start(): Promise<Agent> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-fuzz-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'scripts'));
  writeFileSync(join(directory, 'service.yaml'), config);
  writeFileSync(join(directory, 'SKILL.md'), skill);
  writeFileSync(join(directory, 'scripts/pay.sh'), 'cat\n');
  const quiet = () => undefined;
  return startAgent({
    ...{ directory, host: '127.0.0.1', port: 0, noAuth: true, inspectPort: null },
    ...{ env: {}, keepLog: false },
    log: {
      ...{ info: quiet, warn: quiet },
      error: (fields, message) => void complaints.push(`${message} ${JSON.stringify(fields)}`),
    },
  });
}

/** Sends bytes to an agent of this process. Throws when it answers with a failure of its own, not at all, or logs an error. */
export async function takeRequest(bytes: Buffer): Promise<void> {
  agent ??= start();
  const { hostname, port } = new URL((await agent).url);
  const text = await answerOf(bytes, { host: hostname, port: Number(port) });
  const statuses = [...text.matchAll(/HTTP\/1\.1 (5\d\d)/g)].map(([, status = '']) => status);
  const broken = statuses.filter((status) => !told.includes(status));
  if (broken.length > 0) throw new Error(`answered ${broken.join(', ')}: ${text}`);
  const [complaint] = complaints.splice(0);
  if (complaint !== undefined) throw new Error(`the log says: ${complaint}`);
}

function answerOf(bytes: Buffer, to: { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, () => socket.end(bytes));
    let text = '';
    // What is followed or held has no end; what has been answered by then has come.
    const timer = setTimeout(() => {
      socket.destroy();
      if (text === '' && !isHeld(bytes)) reject(new Error('is not answered'));
    }, patience);
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

/** A send that waits for a decision is answered when there is one. */
function isHeld(bytes: Buffer): boolean {
  return bytes.includes('POST');
}
