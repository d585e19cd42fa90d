import { hash } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Zip from 'jszip';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainLine } from '../../src/actors/records/log/chain-line.ts';
import { receiptClaims } from '../../src/actors/records/log/receipt-claims.ts';
import { signReceipt } from '../../src/actors/records/log/sign-receipt.ts';
import { builtBundlePage } from '../../src/agent/start/built-page.ts';
import { bundleFiles } from '../../src/cli/audit/bundle-files.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { version } from '../../src/version.ts';
import { keyOf, logOf } from '../actors/records/log/log-of.ts';
import { TestBrowser } from '../helpers/browser.ts';
import { holdpointHere } from './command-here.ts';
import { cleanUp, temporaryFolder } from './holdpoint.ts';

const own = keyOf('service-audit-v1', Buffer.alloc(32, 1));
const jwks = { keys: [own.publicKey] };
const env = { SERVICE_AUDIT_VERIFY_KEYS: JSON.stringify(jwks) };

const at = (minute: number): string => new Date(Date.UTC(2026, 6, 1, 9, minute)).toISOString();

/** A log of two starts, and of two tasks in turn, an event a minute. */
const eventsOf = (agent: string) =>
  Array.from({ length: 10 }, (_, index) => ({
    ...(index % 5 === 0
      ? { event: 'policy_loaded', fields: { policy_sha256: String(index).repeat(64) } }
      : {
          event: 'tool_exec',
          task_id: `${agent}-${index % 2}`,
          fields: { n: index, note: '</script>' },
        }),
    ts: at(index),
  }));

const refunds = logOf(eventsOf('refunds'), undefined, own.signer);
const billing = logOf(eventsOf('billing'));
const hashOf = (line: string | undefined): string => hash('sha256', (line ?? '').trimEnd(), 'hex');

/** A call that a person released and that timed out, and a denied one of a hostile name. */
function storyOf() {
  const call = { call_id: 'c-1', args_sha256: 'ab'.repeat(32), policy_sha256: policySha256 };
  const of = (minute: number, event: string, fields: JsonObject) => ({
    ...{ event, ts: at(minute), seq: minute + 1, task_id: 't-1', fields },
  });
  return [
    of(0, 'session_start', { email: 'bob@example.com', provider: 'staff' }),
    of(1, 'call_ruled', { ...call, tool: 'pay', decision: 'defer', layer: 'defer', reason: 'r' }),
    of(2, 'task_deferred', { ...call, tool: 'pay', to: 'channel:slack:#refunds' }),
    of(3, 'task_deferred_decision', {
      ...{ ...call, tool: 'pay', decision: 'approve', approver: 'ann@example.com', note: 'ok' },
      ...{ method: 'oidc', provider: 'staff' },
    }),
    of(4, 'tool_exec', { ...call, tool: 'pay', phase: 'start' }),
    of(5, 'tool_exec', {
      ...call,
      tool: 'pay',
      phase: 'end',
      outcome: 'unknown',
      error: 'timeout',
    }),
    of(6, 'call_ruled', { call_id: 'c-2', tool: '<b>\u202e', decision: 'deny', layer: 'static' }),
  ];
}

const policyOfStory = JSON.stringify({
  security: { defer: { tools: { pay: [{ to: ['channel:slack:#refunds'] }] } } },
});
const policySha256 = hash('sha256', policyOfStory, 'hex');

type Bundled = Parameters<typeof bundleFiles>[1][number];

/** The page of a bundle of that story, as an attacker without the key may change it. */
async function reportOf(
  change: (agent: Bundled) => readonly Bundled[] = (agent) => [agent],
): Promise<string> {
  const { lines, head } = logOf(storyOf(), undefined, own.signer);
  const hashed = lines.map((line) => ({ line: JSON.parse(line), sha256: hashOf(line) }));
  const receipts = ['c-1', 'c-2'].map((call_id) => {
    const claims = receiptClaims(hashed, call_id) as JsonObject;
    return {
      task_id: 't-1',
      call_id,
      jws: signReceipt({ ...claims, issued_at: at(9) }, own.signer),
    };
  });
  const agent = {
    ...{ agentId: 'refunds', log: lines.join(''), head, runs: [[1, 7]] as [number, number][] },
    ...{ continuedFrom: null, keys: jwks, policies: '', receipts },
    policyTexts: new Map([[policySha256, policyOfStory]]),
    verdict: { ok: true, sentence: '7 events, chain intact, 7 signed', head },
  };
  const scope = { createdAt: at(10), from: null, to: null, taskId: null };
  return bundleFiles(scope, change(agent), await builtBundlePage()).get('verify.html')!;
}

/** What the table of calls says of the proof of each call, and of the requester or agent. */
const proofsOf = (page: Page): Promise<string[]> =>
  page.locator('#calls tr.call td:last-child').allInnerTexts();

let workspace: string;
let browser: TestBrowser;

beforeAll(async () => {
  workspace = await temporaryFolder();
  for (const [name, { lines }] of Object.entries({ refunds, billing })) {
    await mkdir(join(workspace, name, '.service'), { recursive: true });
    await writeFile(join(workspace, name, 'service.yaml'), `agent_id: ${name}\n`);
    await writeFile(join(workspace, name, '.service/audit.ndjson'), lines.join(''));
  }
  browser = await TestBrowser.launch();
}, 120_000);

afterAll(async () => {
  await browser.close();
  await cleanUp();
});

/** Makes a bundle; resolves with its path and its files. */
async function bundle(...options: string[]) {
  const path = join(await temporaryFolder(), 'evidence.zip');
  const ended = await holdpointHere(
    ['audit', 'bundle', '--dir', workspace, '-o', path, '--json', ...options],
    { env },
  );
  const zip = ended.code === 0 || ended.code === 6 ? await filesOf(path) : {};
  return { path, ended, files: zip };
}

async function filesOf(path: string): Promise<Record<string, string>> {
  const zip = await Zip.loadAsync(await readFile(path));
  const entries = Object.values(zip.files).map(async (file) => [
    file.name,
    await file.async('string'),
  ]);
  return Object.fromEntries(await Promise.all(entries));
}

const rowsOf = (page: Page): Promise<string[][]> =>
  page
    .locator('#parts tbody tr')
    .evaluateAll((rows: any[]) =>
      rows.map(({ cells }) => [...cells].map((cell) => String(cell.textContent))),
    );

/** What a page says of the files that it contains; it may ask for nothing but itself. */
async function verdictOf(html: string): Promise<{ page: Page; verdict: string; rows: string[][] }> {
  const path = join(await temporaryFolder(), 'verify.html');
  await writeFile(path, html);
  const url = pathToFileURL(path).href;
  const { page, complaints } = await browser.page({ isOwn: false });
  await page.goto(url);
  const verdict = await end(page);
  expect(complaints).toEqual([`asked for ${url}`]);
  return { page, verdict, rows: await rowsOf(page) };
}

async function end(page: Page): Promise<string> {
  await page.locator('#verdict:is(.good, .open, .bad)').waitFor();
  return page.locator('#verdict').innerText();
}

describe('audit bundle', () => {
  it('contains lines, keys, policies and verdicts of all agents of a workspace', async () => {
    const { path, ended, files } = await bundle('--from', at(6), '--to', at(8));
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({
      agents: ['billing', 'refunds'],
      events: 6,
      file: path,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const { 'bundle.json': manifest, 'verify.html': _, ...parts } = files;
    expect(JSON.parse(manifest!)).toEqual({
      ...{ format: 1, holdpoint: version, created_at: expect.any(String) },
      ...{ from: at(6), to: at(8), task_id: null },
      agents: [
        { name: 'billing', log: billing, signed: 0 },
        { name: 'refunds', log: refunds, signed: 10 },
      ].map(({ name, log, signed }) => ({
        ...{ agent_id: name, folder: `agents/${name}`, runs: [[7, 3]], continued_from: null },
        head: hashOf(log.lines[8]),
        verdict: {
          ok: true,
          sentence: `10 events, chain intact, ${signed} signed`,
          head: log.head,
        },
      })),
    });
    const partsOf = (name: string, { lines }: { lines: string[] }) => ({
      [`agents/${name}/log.ndjson`]: lines.slice(6, 9).join(''),
      [`agents/${name}/policies.ndjson`]: lines[5],
      [`agents/${name}/keys.json`]: `${JSON.stringify(jwks, null, 2)}\n`,
      [`agents/${name}/receipts.json`]: '[]\n',
    });
    expect(parts).toEqual({ ...partsOf('billing', billing), ...partsOf('refunds', refunds) });
  });

  it('verifies itself in a browser without a network', async () => {
    const { files } = await bundle('--agent', 'refunds');
    const { verdict, rows } = await verdictOf(files['verify.html']!);
    expect(rows).toEqual([
      ['refunds', 'lines', '10 lines, 10 links of the chain intact, 10 signatures valid'],
      ['refunds', 'policies', '2 loaded, 0 with its text'],
      ['refunds', 'receipts', '0 valid'],
      [
        'refunds',
        'whole log, when the bundle was made',
        `reported by the bundle, not checked: 10 events, chain intact, 10 signed, last hash ${refunds.head}`,
      ],
      ['refunds', 'keys', `service-audit-v1: ${own.publicKey.x}`],
    ]);
    expect(verdict).toBe('The bundle is intact.');
  });

  it.each([
    ['a signed line', 'refunds', '\\"n\\":3', '\\"n\\":4', 'line 4: sig does not match the line'],
    [
      'an unsigned line',
      'billing',
      '\\"n\\":3',
      '\\"n\\":4',
      'line 5: prev_hash does not match the previous line',
    ],
    [
      'the last unsigned line',
      'billing',
      '\\"n\\":9',
      '\\"n\\":8',
      'the last line does not have the hash that the bundle lists',
    ],
    [
      'the form of a line',
      'billing',
      '\\"n\\":3',
      '\\"n\\": 3',
      'line 4: the line is not in canonical form (RFC 8785)',
    ],
  ])('detects that %s was changed', async (_, agent, from, to, reason) => {
    const { files } = await bundle('--agent', agent);
    const html = files['verify.html']!;
    expect(html).toContain(from);
    const { verdict, rows } = await verdictOf(html.replace(from, to));
    expect(rows[0]).toEqual([agent, 'lines', `broken: ${reason}`]);
    expect(verdict).toBe('The bundle is broken.');
  });

  it('verifies the files of an archive, too', async () => {
    const { path, files } = await bundle();
    const { page, verdict } = await verdictOf(files['verify.html']!);
    const unsigned =
      'The bundle is intact, but not all of it is signed: 1 of 2 agents is not signed, so its log could have been rewritten.';
    expect(verdict).toBe(unsigned);
    expect(await page.locator('#verdict').getAttribute('class')).toBe('open');
    const zip = await Zip.loadAsync(await readFile(path));
    const log = files['agents/billing/log.ndjson']!;
    zip.file('agents/billing/log.ndjson', log.split('\n').toSpliced(3, 1).join('\n'));
    const changed = join(await temporaryFolder(), 'changed.zip');
    await writeFile(
      changed,
      await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' }),
    );
    await page.locator('#file').setInputFiles(changed);
    await page.getByText('The bundle is broken.').waitFor();
    expect((await rowsOf(page))[0]).toEqual([
      ...['billing', 'lines'],
      'broken: line 4: prev_hash does not match the previous line',
    ]);
    await page.locator('#file').setInputFiles(path);
    await page.getByText(unsigned).waitFor();
  });

  it('contains the lines of one task, whose signatures prove them', async () => {
    const { files } = await bundle('--agent', 'refunds', '--task', 'refunds-1');
    const manifest = JSON.parse(files['bundle.json']!);
    const own = [1, 3, 7, 9];
    expect(files['agents/refunds/log.ndjson']).toBe(own.map((n) => refunds.lines[n]).join(''));
    expect(manifest.agents[0].runs).toEqual(own.map((n) => [n + 1, 1]));
    const { verdict, rows } = await verdictOf(files['verify.html']!);
    expect(rows[0]).toEqual([
      ...['refunds', 'lines'],
      '4 lines, 0 links of the chain intact, 4 signatures valid',
    ]);
    expect(verdict).toBe('The bundle is intact.');
  });

  it('contains the text of the current policy, and receipts, and detects a change of either', async () => {
    const text = '{"security":{}}';
    const { lines } = logOf(
      [
        ...['c-1', 'c-2'].map((call_id) => ({
          event: 'call_ruled',
          ts: at(0),
          task_id: 't-1',
          fields: { call_id, decision: 'deny' },
        })),
      ],
      undefined,
      own.signer,
    );
    const hashed = lines.map((line) => ({ line: JSON.parse(line), sha256: hashOf(line) }));
    const issued = (call: string, changes: JsonObject = {}) => {
      const claims = receiptClaims(hashed, call) as JsonObject;
      return signReceipt({ ...claims, issued_at: at(1), ...changes }, own.signer);
    };
    const jws = issued('c-1');
    const scope = { createdAt: at(0), from: null, to: null, taskId: null };
    const head = hashOf(lines[1]);
    const agent = {
      ...{ agentId: 'refunds', log: lines.join(''), head, runs: [[1, 2]] as [number, number][] },
      ...{ continuedFrom: null, keys: jwks, policies: lines[0] ?? '' },
      policyTexts: new Map([[hash('sha256', text, 'hex'), text]]),
      receipts: [{ task_id: 't-1', call_id: 'c-1', jws }],
      verdict: { ok: true, sentence: '2 events, chain intact, 2 signed', head },
    };
    const html = bundleFiles(scope, [agent], await builtBundlePage()).get('verify.html')!;
    const good = await verdictOf(html);
    expect(good.rows.slice(1, 3)).toEqual([
      ['refunds', 'policies', '1 loaded, 1 with its text'],
      ['refunds', 'receipts', '1 valid'],
    ]);
    const bad = await verdictOf(
      html
        .replace(jws, jws.replace(/\.[^.]+\./, `.${issued('c-2').split('.')[1]}.`))
        .replace('{\\"security\\":{}}', '{\\"security\\":[]}'),
    );
    expect(bad.rows.slice(1, 3)).toEqual([
      [
        ...['refunds', 'policies'],
        `broken: agents/refunds/policies/${hash('sha256', text, 'hex')}.json does not have the digest in its name`,
      ],
      [
        ...['refunds', 'receipts'],
        'broken: call c-1 of task t-1: the signature does not match: a member was changed',
      ],
    ]);
    expect(bad.verdict).toBe('The bundle is broken.');
    const lying = await verdictOf(
      html.replace(jws, issued('c-1', { ran: { outcome: 'succeeded' } })),
    );
    expect(lying.rows[2]?.[2]).toBe(
      'broken: call c-1 of task t-1: it states something else than its lines of the log',
    );
  });

  it('is not intact for a reader where each signature was removed and the chain rebuilt', async () => {
    const { files } = await bundle('--agent', 'refunds');
    const stripped = logOf(
      eventsOf('refunds').map((event, index) => (index === 4 ? { ...event, fields: {} } : event)),
    );
    const [agent] = JSON.parse(files['bundle.json']!).agents;
    const html = bundleFiles(
      { createdAt: at(0), from: null, to: null, taskId: null },
      [
        {
          ...{ agentId: 'refunds', log: stripped.lines.join(''), head: stripped.head },
          ...{ runs: [[1, 10]], continuedFrom: null, keys: jwks, policies: stripped.lines[0]! },
          ...{ policyTexts: new Map(), receipts: [], verdict: agent.verdict },
        },
      ],
      await builtBundlePage(),
    ).get('verify.html')!;
    const { page, verdict, rows } = await verdictOf(html);
    expect(rows.slice(0, 2)).toEqual([
      ['refunds', 'lines', '10 lines, 10 links of the chain intact, 0 signatures valid'],
      ['refunds', 'policies', '1 loaded, 0 with its text, 1 not signed'],
    ]);
    expect(verdict).toBe(
      'The bundle is intact, but not all of it is signed: 1 of 1 agents is not signed, so its log could have been rewritten.',
    );
    expect(await page.locator('#verdict').getAttribute('class')).toBe('open');
  });

  it('shows no call as signed whose requester is in an unsigned line', async () => {
    const { page, verdict } = await verdictOf(
      await reportOf((agent) => {
        const [first = '', ...others] = agent.log.split(/(?<=\n)/);
        const { kid: _, sig: __, ...line } = JSON.parse(first);
        const forged = `${JSON.stringify(line).replace('bob@', 'eve@')}\n`;
        // The runs of a task are not linked.
        const runs: [number, number][] = [
          [1, 1],
          [3, 6],
        ];
        return [{ ...agent, log: [forged, ...others].join(''), runs, receipts: [] }];
      }),
    );
    expect(verdict).toMatch(/not all of it is signed: 1 of 7 lines of refunds are not signed/);
    expect(await proofsOf(page)).toEqual(['not signed', 'not signed']);
  });

  it('shows no call of an agent without keys as signed next to an agent with the same id', async () => {
    const { page } = await verdictOf(
      await reportOf((agent) => {
        const events = storyOf().map((event) => ({ ...event, ts: at(30) }));
        const { lines, head } = logOf(events, undefined, keyOf('x', Buffer.alloc(32, 7)).signer);
        const forged = { ...agent, log: lines.join(''), head, keys: { keys: [] }, receipts: [] };
        return [agent, forged];
      }),
    );
    expect(await proofsOf(page)).toEqual(['signed', 'signed', 'not signed', 'not signed']);
  });

  it('is broken where a receipt is at another call, and where no agent is listed', async () => {
    const swapped = await verdictOf(
      await reportOf((agent) => {
        const [one, other] = agent.receipts;
        return [{ ...agent, receipts: [{ ...one!, jws: other!.jws }] }];
      }),
    );
    expect(swapped.rows[2]?.[2]).toBe(
      'broken: call c-1 of task t-1: the receipt is of another call',
    );
    expect(swapped.verdict).toBe('The bundle is broken.');
    const empty = await verdictOf(await reportOf(() => []));
    expect(empty.verdict).toBe('The bundle is broken.');
  });

  it('reports each call with rule, people and outcome, and filters them', async () => {
    const html = await reportOf();
    const { page, verdict } = await verdictOf(html);
    expect(verdict).toBe('The bundle is intact.');
    const cells = (row: number) =>
      page.locator('#calls tr.call').nth(row).locator('td').allInnerTexts();
    const [time, ...rest] = await cells(0);
    expect(time).toMatch(/2026/);
    expect(await page.locator('#calls time').first().getAttribute('title')).toBe(at(2));
    expect(rest.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual(
      [
        ...['refunds', 'pay', 'sha256 abababababababab', 'hold defer', 'approved ann@example.com'],
        ...['outcome unknown timeout', 'signed'],
      ].map((text) =>
        text === 'approved ann@example.com'
          ? 'approved ann@example.com signed in to the approvals page, staff'
          : text,
      ),
    );
    expect((await cells(1)).at(2)?.trim()).toBe('<b>U+202E');
    expect(await page.locator('#count').innerText()).toBe('2 of 2 calls');
    await page.locator('#person').selectOption('ann@example.com');
    expect(await page.locator('#count').innerText()).toBe('1 of 2 calls');
    await page.locator('#calls tr.call button').click();
    const detail = await page.locator('#calls tr.detail').innerText();
    for (const part of [
      'bob@example.com',
      '"to": [',
      'channel:slack:#refunds',
      'ok',
      'c-1',
      'eyJ',
    ]) {
      expect(detail).toContain(part);
    }
    await page.locator('#tool').selectOption({ index: 1 });
    expect(await page.locator('#count').innerText()).toBe('0 of 2 calls');
  });

  it('contains no new receipt of a changed line, and exits with 6', async () => {
    const log = join(workspace, 'refunds/.service/audit.ndjson');
    const story = logOf(storyOf(), undefined, own.signer).lines;
    const signing = { audit: { signing: { enabled: true, key_env: 'AKEY', kid: own.signer.kid } } };
    const settings = join(workspace, 'refunds/service.yaml');
    const before = await readFile(settings, 'utf8');
    await writeFile(settings, JSON.stringify({ agent_id: 'refunds', ...signing }));
    const withKey = {
      ...env,
      AKEY: own.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    };
    const receiptsOf = async (lines: string[]) => {
      await writeFile(log, lines.join(''));
      const path = join(await temporaryFolder(), 'evidence.zip');
      const { code, stderr } = await holdpointHere(
        ['audit', 'bundle', '--dir', workspace, '--agent', 'refunds', '-o', path],
        { env: withKey },
      );
      const files = await filesOf(path);
      const calls = JSON.parse(files['agents/refunds/receipts.json']!);
      return { code, stderr, calls: calls.map((one: { call_id: string }) => one.call_id) };
    };
    expect(await receiptsOf(story)).toEqual({ code: 0, stderr: '', calls: ['c-1', 'c-2'] });
    const forged = story.map((line) => line.replace('ann@example.com', 'cfo@example.com'));
    expect(await receiptsOf(forged)).toMatchObject({ code: 6, calls: [] });
    const { line } = chainLine(
      { ...storyOf().at(-1)!, fields: { call_id: 'c-2', decision: 'deny' } } as never,
      hashOf(story.at(-2)),
    );
    const last = await receiptsOf([...story.slice(0, -1), `${line}\n`]);
    expect(last).toMatchObject({ code: 6, calls: ['c-1'] });
    await writeFile(settings, before);
    await writeFile(log, refunds.lines.join(''));
  });

  it('contains a broken log with its verdict, and exits with 6', async () => {
    const log = join(workspace, 'billing/.service/audit.ndjson');
    await writeFile(log, billing.lines.toSpliced(2, 1).join(''));
    const { ended, files } = await bundle('--agent', 'billing');
    await writeFile(log, billing.lines.join(''));
    expect(ended.code).toBe(6);
    expect(JSON.parse(files['bundle.json']!).agents[0].verdict).toMatchObject({ ok: false });
    const { verdict, rows } = await verdictOf(files['verify.html']!);
    expect(rows[0]?.[2]).toBe('broken: line 3: prev_hash does not match the previous line');
    expect(verdict).toBe('The bundle is broken.');
  });

  it('omits an agent that never started, and reports it', async () => {
    await mkdir(join(workspace, 'idle'));
    await writeFile(join(workspace, 'idle/service.yaml'), 'agent_id: idle\n');
    const { ended } = await bundle();
    await rm(join(workspace, 'idle'), { recursive: true });
    expect(ended).toMatchObject({ code: 0, stderr: 'warning: idle has no log yet\n' });
    expect(JSON.parse(ended.stdout).agents).toEqual(['billing', 'refunds']);
  });

  it.each([
    [['--agent', 'nobody'], 3, /^there is no agent nobody in /],
    [['--to', '9000d'], 3, /^the logs hold no such event$/],
    [['--from', 'x'], 2, /^from must be a time /],
  ])('writes no bundle for %j', async (options, code, message) => {
    const { ended } = await bundle(...options);
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.stdout).error.message).toMatch(message);
  });
});
