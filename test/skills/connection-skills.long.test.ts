import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { listenOnLoopback } from '../helpers/listen-on-loopback.ts';
import { certificate } from './address-certificate.ts';
import { fakeService } from './fake-service.ts';
import { agentWithSkill, portOf } from './skill-agent.ts';

needsBwrap();

/** A service over TLS that answers by the method and the path. */
async function secureService(answers: Record<string, object>) {
  const asked: { line: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url?.split('?')[0]}`;
    asked.push({ line, headers: request.headers, body: await text(request) });
    response.writeHead(answers[line] === undefined ? 404 : 200);
    response.end(JSON.stringify(answers[line] ?? { message: 'not found' }));
  };
  const server = createSecureServer(certificate, (request, response) => {
    void answer(request, response);
  });
  await listenOnLoopback(server);
  return { entry: portOf(server), asked };
}

describe('http-health', () => {
  it('reports a certificate, although it is not trusted', async () => {
    const { entry } = await secureService({ 'GET /healthz': {} });
    const { call } = await agentWithSkill('http-health', { reaches: [entry] });
    const {
      certificate: told,
      milliseconds,
      ...rest
    } = await call('check_url', {
      url: `https://${entry}/healthz`,
    });
    expect(rest).toEqual({ url: `https://${entry}/healthz`, healthy: true, status: 200 });
    expect(milliseconds).toBeGreaterThanOrEqual(0);
    expect(told).toMatchObject({
      subject: 'loopback.example.test',
      issuer: 'Loopback',
      trusted: false,
    });
    const { days_left: left } = told as { days_left: number };
    expect(left).toBeGreaterThan(30_000);
  });

  it('expects the given status, and follows no redirect', async () => {
    const service = await fakeService({
      'GET /old': { status: 301, headers: { location: 'https://elsewhere.test/' }, body: '' },
      'HEAD /busy': { status: 503, body: '' },
    });
    const { call } = await agentWithSkill('http-health', { reaches: [service.entry] });
    expect(await call('check_url', { url: `${service.url}/old` })).toMatchObject({
      ...{ healthy: true, status: 301, redirects_to: 'https://elsewhere.test/' },
    });
    const busy = { url: `${service.url}/busy`, method: 'HEAD' };
    expect(await call('check_url', busy)).toMatchObject({ healthy: false, status: 503 });
    expect(await call('check_url', { ...busy, expect_status: 503 })).toMatchObject({
      healthy: true,
    });
  });

  it('reaches no unlisted host, and no port without a web server', async () => {
    const service = await fakeService({});
    const { fail } = await agentWithSkill('http-health');
    expect(await fail('check_url', { url: service.url })).toMatch(
      /egress does not list 127\.0\.0\.1:\d+$/,
    );
    expect(await fail('check_url', { url: 'file:///etc/passwd' })).toMatch(/must match pattern/);
    expect(await fail('check_url', { url: 'http://' })).toMatch(
      /is not an address without a user$/,
    );
    expect(service.asked).toEqual([]);
  });
});

describe('kubernetes', () => {
  const path = '/apis/apps/v1/namespaces/shop/deployments';
  const env = (entry: string, ca: string) => ({
    ...{ KUBERNETES_API_URL: `https://${entry}`, KUBERNETES_TOKEN: 'canary', KUBERNETES_CA: ca },
  });
  const open = async (answers: Record<string, object>, ca = certificate.cert) => {
    const service = await secureService(answers);
    const agent = await agentWithSkill('kubernetes', {
      ...{ env: env(service.entry, ca), reaches: [service.entry] },
    });
    return { ...agent, ...service };
  };

  it('shows unhealthy workloads, and restarts a deployment', async () => {
    const pod = (name: string, ready: boolean, reason?: string) => ({
      metadata: { name },
      status: {
        phase: ready ? 'Running' : 'Pending',
        containerStatuses: [
          { ready, restartCount: 3, state: reason ? { waiting: { reason } } : {} },
        ],
      },
    });
    const { call, asked } = await open({
      [`GET ${path}`]: {
        items: [
          {
            metadata: { name: 'cart' },
            spec: { replicas: 2, template: { spec: { containers: [{ image: 'cart:1' }] } } },
            status: { readyReplicas: 1 },
          },
        ],
      },
      'GET /api/v1/namespaces/shop/pods': {
        items: [pod('a', true), pod('b', false, 'ImagePullBackOff')],
      },
      [`PATCH ${path}/cart`]: { metadata: { name: 'cart', generation: 4 } },
    });
    expect(await call('workload_status', { namespace: 'shop' })).toEqual({
      ...{ namespace: 'shop', more: false },
      deployments: [{ name: 'cart', ready: '1/2', healthy: false, images: ['cart:1'] }],
      pods: {
        total: 2,
        unwell: [{ name: 'b', phase: 'Pending', reason: 'ImagePullBackOff', restarts: 3 }],
      },
    });
    const args = { namespace: 'shop', deployment: 'cart', reason: 'memory is full' };
    const restarted = await call('restart_deployment', args);
    expect(restarted).toMatchObject({ deployment: 'cart', namespace: 'shop', generation: 4 });
    const patch = asked.at(-1);
    expect(patch?.headers['content-type']).toBe('application/strategic-merge-patch+json');
    expect(patch?.headers['authorization']).toBe('Bearer canary');
    expect(JSON.parse(patch?.body ?? '')).toEqual({
      spec: {
        template: {
          metadata: {
            annotations: {
              'kubectl.kubernetes.io/restartedAt': restarted['restarted_at'],
              'holdpoint/restart-reason': 'memory is full',
            },
          },
        },
      },
    });
  });

  it('sends its token only to a server of its authority', async () => {
    const { fail, asked } = await open({}, '');
    const failure = await fail('workload_status');
    expect(failure).toMatch(/the certificate of 127\.0\.0\.1 cannot be verified: [A-Z_]+$/);
    expect(asked).toEqual([]);
  });

  it('reports the refusals of the cluster, and accepts only names', async () => {
    const { fail } = await open({});
    expect(await fail('workload_status')).toMatch(/the cluster answered 404: not found$/);
    const args = { namespace: 'shop', reason: 'memory is full' };
    expect(await fail('restart_deployment', { ...args, deployment: '../../secrets' })).toMatch(
      /must match pattern/,
    );
  });
});

describe('email-send', () => {
  /** A mail server that offers TLS if configured; `refuses` lists what it does not accept. */
  async function mailServer({ offers = true, refuses = 'nothing' } = {}) {
    const heard: string[] = [];
    const server = createServer((socket) => {
      onTestFinished(() => void socket.destroy());
      let isData = false;
      const listen = (stream: Socket) => {
        stream.on('error', () => undefined);
        stream.on('data', (bytes) => {
          for (const line of bytes.toString().split('\r\n').slice(0, -1)) answer(stream, line);
        });
      };
      const answer = (stream: Socket, line: string) => {
        heard.push(line);
        const say = (words: string) => stream.write(`${words}\r\n`);
        if (isData) {
          if (line === '.') {
            isData = false;
            say('250 queued');
          }
        } else if (line.startsWith(refuses)) say('550 no such user here');
        else if (line.startsWith('EHLO')) {
          const isPlain = !(stream instanceof TLSSocket);
          say(
            offers && isPlain ? '250-mail.test\r\n250 STARTTLS' : '250-mail.test\r\n250 AUTH PLAIN',
          );
        } else if (line === 'STARTTLS') {
          stream.write('220 go on\r\n');
          stream.removeAllListeners('data');
          listen(new TLSSocket(stream, { isServer: true, ...certificate }));
        } else if (line === 'DATA') {
          isData = true;
          say('354 go on');
        } else
          say(line.startsWith('AUTH') ? '235 welcome' : line === 'QUIT' ? '221 bye' : '250 fine');
      };
      listen(socket);
      socket.write('220-mail.test\r\n220 ready\r\n');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    return { heard, entry: portOf(server) };
  }

  const open = async (server: { entry: string }, login = '', more: Record<string, string> = {}) =>
    agentWithSkill('email-send', {
      env: { SMTP_URL: `smtp://${login}${server.entry}`, SMTP_FROM: 'desk@example.com', ...more },
      reaches: [server.entry],
    });

  it('sends a mail in which no line becomes a header or an end', async () => {
    const server = await mailServer({ offers: false });
    const { call } = await open(server);
    const subject = 'Übersicht\r\nBcc: all@example.com';
    const sent = 'Hello\n.\nQUIT\n';
    const to = ['ann@example.com', 'bob@example.org'];
    expect(await call('send_mail', { to, subject, text: sent })).toMatchObject({ accepted: to });
    const at = server.heard.indexOf('DATA');
    expect(server.heard.slice(0, at)).toEqual([
      'EHLO holdpoint',
      'MAIL FROM:<desk@example.com>',
      'RCPT TO:<ann@example.com>',
      'RCPT TO:<bob@example.org>',
    ]);
    const mail = server.heard.slice(at + 1, server.heard.indexOf('.'));
    const blank = mail.indexOf('');
    expect(mail.slice(0, blank).filter((line) => /^(bcc|quit)/i.test(line))).toEqual([]);
    const body = Buffer.from(mail.slice(blank).join(''), 'base64').toString();
    expect(body).toBe(sent.replaceAll('\n', '\r\n'));
    const words = mail
      .slice(0, blank)
      .join('\r\n')
      .matchAll(/=\?utf-8\?B\?([^?]*)\?=/g);
    const read = [...words].map(([, word = '']) => Buffer.from(word, 'base64').toString()).join('');
    expect(read).toBe(subject);
  });

  it('authenticates over TLS only, at a trusted server', async () => {
    const plain = await mailServer({ offers: false });
    const mail = { to: ['ann@example.com'], subject: 's', text: 't' };
    const one = await open(plain, 'desk:canary@');
    expect(await one.fail('send_mail', mail)).toMatch(
      /the mail server offers no TLS, so nobody signs in there$/,
    );
    const untrusted = await mailServer();
    const other = await open(untrusted, 'desk:canary@');
    const failure = await other.fail('send_mail', mail);
    expect(failure).toMatch(/the certificate of 127\.0\.0\.1 cannot be verified/);
    expect([failure, ...plain.heard, ...untrusted.heard].join()).not.toContain('canary');
    expect([...plain.heard, ...untrusted.heard].filter((line) => line.startsWith('AUTH'))).toEqual(
      [],
    );
  });

  it('writes only to the allowed domains, and reports refusals', async () => {
    const server = await mailServer({ offers: false, refuses: 'RCPT TO:<gone@' });
    const { fail } = await open(server, '', { SMTP_ALLOWED_DOMAINS: 'example.com, example.org' });
    const mail = { subject: 's', text: 't' };
    expect(await fail('send_mail', { ...mail, to: ['eve@evil.test'] })).toMatch(
      /nobody at evil\.test may be written to; SMTP_ALLOWED_DOMAINS does not list it$/,
    );
    expect(await fail('send_mail', { ...mail, to: ['a@example.com>\r\nRCPT TO:<x'] })).toMatch(
      /must match pattern/,
    );
    expect(server.heard).toEqual([]);
    expect(await fail('send_mail', { ...mail, to: ['gone@example.com'] })).toMatch(
      /the mail server refused it: 550 no such user here$/,
    );
    expect(server.heard).not.toContain('DATA');
  });
});
