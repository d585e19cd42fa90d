import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { probeSandbox } from '../../src/actors/tools/sandbox/sandbox.ts';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { cleanUp, holdpoint } from '../cli/holdpoint.ts';
import { readLog } from '../helpers/kept-log.ts';
import { type AuditLine, expectIntact, startInFolder, textOf } from '../helpers/test-agent.ts';
import { loopbackOpen, outwardFolder } from './egress-agent.ts';

needsBwrap();

/** A program each that asks for a URL and says the answer's status and body, as programs usually do. */
const programs: Record<string, string> = {
  'curl_it.sh': `url=$(printf '%s' "$1" | sed 's/.*"url":"//;s/".*//')
curl -sS -m 10 -w ' %{http_code}' "$url"
`,
  // Its fetch asks for a tunnel, and tells no more of a refusal than the status.
  'node_it.mjs': `try {
  const response = await fetch(JSON.parse(process.argv[2]).url);
  console.log(await response.text(), response.status);
} catch (error) {
  console.log(error.cause.cause?.message ?? error.cause.message);
}
`,
  'python_it.py': `import json, sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(json.loads(sys.argv[1])['url'], timeout=10)
except urllib.error.HTTPError as error:
    answer = error
print(answer.read().decode(), answer.status)
`,
};

const refusal = 'egress blocked: shop.test is not on the allowlist (mode=allowlist) 403';

const tools: [tool: string, refused: unknown][] = [
  ['curl_it', refusal],
  ['node_it', expect.stringContaining('Proxy response (403)')],
  ['python_it', refusal],
];

const sandboxes = isWithoutBwrap ? ['env'] : ['env', 'bwrap'];

/** What the log says of hops, in order. */
function hopsOf(lines: AuditLine[]): unknown[] {
  return lines
    .filter(({ event }) => event.startsWith('egress_'))
    .map(({ event, fields }) => [event, fields?.['domain']]);
}

function steps(tool: string, url = ''): object[] {
  return [{ tool, args: url === '' ? {} : { url } }, { say: '{result}' }];
}

describe.each(sandboxes)('a script at level %s', (sandbox) => {
  const listing = (...allowed_domains: string[]) => ({
    egress: { ...loopbackOpen, allowed_domains, sandbox },
  });
  const settings = listing('127.0.0.1');

  it.each(tools)('reaches only listed hosts, with %s', async (tool, why) => {
    const { port, seen } = await aServer();
    const agent = await startInFolder(outwardFolder(listing(`127.0.0.1:${port}`), programs));
    const allowed = await agent.send('yes', steps(tool, `http://127.0.0.1:${port}/`));
    const refused = await agent.send('no', steps(tool, `http://shop.test:${port}/`));
    expect([textOf(allowed), textOf(refused)]).toEqual(['hello 200', why]);
    expect(seen.map(({ url }) => url)).toEqual(['/']);
    expect(hopsOf(agent.audit('yes'))).toEqual([['egress_allowed', '127.0.0.1']]);
    expect(hopsOf(agent.audit('no'))).toEqual([['egress_blocked', 'shop.test']]);
    for (const id of ['yes', 'no']) {
      const lines = agent.audit(id);
      expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1));
    }
    expect(agent.audit().find(({ event }) => event === 'policy_loaded')?.fields).toEqual({
      version: '0.0.0',
      policy_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      layers: [],
      deferred_tools: [],
      egress: 'allowlist',
      sandbox,
    });
    await expectIntact(agent.auditPath);
  });

  it('has a tunnel only to the ports 443 and 80 unless the entry names another', async () => {
    const { port, seen } = await aServer();
    const agent = await startInFolder(outwardFolder(settings, programs));
    const url = `http://127.0.0.1:${port}/`;
    expect(textOf(await agent.send('plain', steps('curl_it', url)))).toBe('hello 200');
    expect(textOf(await agent.send('tunnel', steps('node_it', url)))).toContain('403');
    expect(seen).toHaveLength(1);
    const blocked = agent.audit('tunnel').filter(({ event }) => event === 'egress_blocked');
    expect(blocked.map(({ fields }) => fields)).toEqual([
      {
        domain: '127.0.0.1',
        mode: 'allowlist',
        reason: `requests a tunnel to port ${port}, which no entry allows`,
      },
    ]);
  });

  it('reaches the hosts that its own skill declares, which no other tool does', async () => {
    const { port, seen } = await aServer();
    const folder = outwardFolder({ egress: { allow_private_ips: true, sandbox } }, programs);
    const skill = readFileSync(`${folder.path}/SKILL.md`, 'utf8');
    const declared = skill.replace('---\n', `---\negress_domains: ["127.0.0.1:${port}"]\n`);
    writeFileSync(`${folder.path}/SKILL.md`, declared);
    mkdirSync(`${folder.path}/skills/other/scripts`, { recursive: true });
    writeFileSync(`${folder.path}/skills/other/scripts/other_it.sh`, programs['curl_it.sh'] ?? '');
    writeFileSync(
      `${folder.path}/skills/other/SKILL.md`,
      '---\nname: other\ndescription: Another skill.\n---\n## Tool: other_it\n\nAsks.\n\n**Input:** url (string)\n',
    );
    const agent = await startInFolder(folder);
    const url = `http://127.0.0.1:${port}/`;
    const texts: string[] = [];
    for (const tool of ['curl_it', 'node_it', 'other_it', 'http_request']) {
      texts.push(textOf(await agent.send(tool, steps(tool, url))));
    }
    const closed = 'egress blocked: 127.0.0.1 is not on the allowlist (mode=allowlist)';
    expect(texts).toEqual(['hello 200', 'hello 200', `${closed} 403`, closed]);
    expect(seen).toHaveLength(2);
  });

  it('has its requests recorded with its own task while another runs', async () => {
    const waiting: ServerResponse[] = [];
    const { port } = await aServer((_, response) => {
      waiting.push(response);
      // Nobody is answered before both are at it.
      if (waiting.length === 2) for (const each of waiting) each.end('hello');
    });
    const open = { egress: { ...loopbackOpen, sandbox } };
    const agent = await startInFolder(outwardFolder(open, programs));
    const answers = await Promise.all(
      ['127.0.0.1', 'localhost'].map((host) =>
        agent.send(host, steps('python_it', `http://${host}:${port}/`)),
      ),
    );
    expect(answers.map(textOf)).toEqual(['hello 200', 'hello 200']);
    const hops = agent.audit().filter(({ event }) => event === 'egress_allowed');
    const whose = hops.map(({ task_id, fields }) => `${task_id} asks ${fields?.['domain']}`);
    expect(whose.toSorted()).toEqual(['127.0.0.1 asks 127.0.0.1', 'localhost asks localhost']);
    for (const { task_id: id, correlation_id } of hops) {
      const [start] = agent.audit(id);
      expect(correlation_id).toBe(start?.correlation_id);
    }
  });

  it('leaks the proxy credentials into no result, error or log', async () => {
    // It hands the password on in a form that nobody looks for, so that the test knows it.
    const leak = `password=$(printf '%s' "$HTTP_PROXY" | sed 's#.*:\\([^@]*\\)@.*#\\1#')
printf '%s\\n' "$HTTP_PROXY" "$password" "$(printf 'as %s' "$password" | base64 -w 0)"
printf '%s' "$password" | tr 'A-Za-z' 'N-ZA-Mn-za-m'
`;
    const folder = outwardFolder(settings, {
      'tell.sh': leak,
      'fail.sh': `{ ${leak}\n} >&2\nexit 3\n`,
    });
    const agent = await startInFolder(folder);
    for (const [tool, isShown] of [
      ['tell', /^http:\/\/\[redacted:credential\]:\[redacted:credential\]@127\.0\.0\.1:\d+\n/],
      ['fail', /^fail failed with exit code 3: http:\/\/\[redacted\]:\[redacted\]@127/],
    ] as const) {
      const text = textOf(await agent.send(tool, steps(tool)));
      const password = rot13(/[\w-]{32}$/.exec(text)?.[0] ?? '');
      expect(text).toMatch(isShown);
      expect(password).toMatch(/^[\w-]{32}$/);
      const log = readLog(agent.auditPath);
      for (const said of [text, JSON.stringify(agent.log), log]) {
        expect(said).not.toContain(password);
      }
    }
  });
});

describe.skipIf(isWithoutBwrap)('a script in a sandbox', () => {
  const settings = { egress: { ...loopbackOpen, sandbox: 'bwrap' } };

  it('has only the proxy for egress', async () => {
    const { port, seen } = await aServer();
    const folder = outwardFolder(settings, {
      'dial.py': `import json, socket, sys, urllib.request
from urllib.parse import urlparse
url = json.loads(sys.argv[1])['url']
place = urlparse(url)
said = []
try:
    socket.create_connection((place.hostname, place.port), timeout=5)
    said.append('connected')
except OSError as error:
    said.append(type(error).__name__)
try:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    said.append(str(opener.open(url, timeout=5).status))
except OSError as error:
    said.append('no answer')
try:
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.sendto(b'x', ('10.0.0.1', 53))
    said.append('sent')
except OSError as error:
    said.append('not sent')
said.append(str(urllib.request.urlopen(url, timeout=5).status))
print(' | '.join(said))
`,
    });
    const agent = await startInFolder(folder);
    const answer = await agent.send('t', steps('dial', `http://127.0.0.1:${port}/`));
    expect(textOf(answer)).toBe('ConnectionRefusedError | no answer | not sent | 200');
    expect(seen).toHaveLength(1);
    expect(hopsOf(agent.audit('t'))).toEqual([['egress_allowed', '127.0.0.1']]);
  });

  it('can read neither the token of the daemon nor the log and the store', async () => {
    const folder = outwardFolder(settings, {
      'snoop.sh': `cd "$SERVICE_AGENT_DIR" && for file in .service/runtime.token .service/audit.ndjson \\
  .service/tasks.db .service/serve.json; do cat "$file" 2>/dev/null && echo "read $file"; done
ls -A .service 2>/dev/null; echo over`,
    });
    const agent = await startInFolder(folder);
    expect(readFileSync(`${folder.path}/.service/runtime.token`, 'utf8')).toContain(agent.token);
    expect(textOf(await agent.send('t', steps('snoop')))).toBe('over');
  });
});

describe('an agent without the required sandbox', () => {
  afterAll(cleanUp);

  it('does not start, and the message states the remedy', async () => {
    const folder = outwardFolder({ egress: { sandbox: 'bwrap' } }, programs);
    const run = ['run', '--dir', folder.path, '--port', '0'];
    // A sandbox is tried in a temporary folder, and there is none.
    const ended = await holdpoint(run, { env: { TMPDIR: `${folder.path}/none` } });
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain(
      'egress.sandbox is bwrap, but bwrap could not be tried; see that the temporary folder can be written to, or set egress.sandbox to env',
    );
  });

  it('reports how to install one where its program is missing', async () => {
    const probe = await probeSandbox('bwrap', (program) =>
      program === 'bwrap' ? null : `/usr/bin/${program}`,
    );
    expect(probe).toEqual({
      level: 'bwrap',
      problem:
        'egress.sandbox is bwrap, but bwrap is not installed; install the package bubblewrap (0.8 or later), or set egress.sandbox to env',
    });
  });
});

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
