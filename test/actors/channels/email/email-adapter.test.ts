import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DeliveryError } from '../../../../src/actors/channels/channel-adapter.ts';
import type { EmailSettings } from '../../../../src/actors/channels/channel-settings.ts';
import { createEmailAdapter } from '../../../../src/actors/channels/email/email-adapter.ts';
import type { ApprovalNotice } from '../../../../src/machines/channels/approval-notice.ts';
import { aNotice } from '../../../helpers/approval-notices.ts';
import {
  bodyOf,
  FakeSmtp,
  headerOf,
  type SmtpSecurity,
  type TakenMail,
} from '../../../helpers/fake-smtp.ts';
import { anEgress, failureOf } from '../../outbound/egress/an-egress.ts';
import { certificate } from '../../outbound/egress/loopback-certificate.ts';

const { signal } = new AbortController();
const toAnn = { target: 'channel:email:ann@example.com' };

/** An adapter for a server that is `smtp.example.test`, unless the settings name another. */
async function startMailer(
  offered: SmtpSecurity,
  settings: Partial<EmailSettings> = {},
  names: Record<string, string[]> = {},
) {
  const smtp = await FakeSmtp.start(offered);
  const { user, password, port } = smtp;
  // As the settings of an agent open it to the daemon.
  const endpoints = [{ host: 'smtp.example.test', port, source: 'channels.0' }];
  const { egress, records } = anEgress({ names, endpoints, allowedDomains: [] });
  const adapter = createEmailAdapter({
    settings: {
      ...{ host: 'smtp.example.test', port, user, password, security: 'starttls' },
      ...{ from: 'holds@example.com', pageUrl: 'https://agent.example.com', ...settings },
    },
    addressesOf: (emails) => ({ emails, slackGroups: [] }),
    pageOf: () => 'https://agent.example.com',
    outbound: egress,
  });
  return { adapter, smtp, records };
}

/** Trusts the certificate of the server until the test has finished. */
function trustServer(): void {
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, certificate.cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
}

async function refusalOf(delivery: Promise<unknown>): Promise<[string, string]> {
  const error = await failureOf(delivery);
  if (error instanceof DeliveryError) return [error.fault, error.message];
  throw error;
}

describe('a mail', () => {
  it.each<[EmailSettings['security'], string[]]>([
    ['starttls', ['ehlo', 'starttls', 'EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA']],
    ['tls', ['EHLO', 'AUTH', 'MAIL', 'RCPT', 'DATA']],
  ])('is sent under %s only after encryption', async (security, commands) => {
    trustServer();
    const { adapter, smtp } = await startMailer(security as SmtpSecurity, { security });
    expect(await adapter.deliver(aNotice(toAnn), signal)).toEqual({ to: ['ann@example.com'] });
    expect(smtp.mails.map(({ to, isEncrypted }) => [to, isEncrypted])).toEqual([
      [['ann@example.com'], true],
    ]);
    expect(smtp.commands.filter((command) => command.toUpperCase() !== 'QUIT')).toEqual(commands);
  });

  it('is refused for a server without encryption, before the password is sent', async () => {
    trustServer();
    const { adapter, smtp } = await startMailer('none');
    expect(await refusalOf(adapter.deliver(aNotice(toAnn), signal))).toEqual([
      'target',
      'email: the server smtp.example.test answered 502 (ETLS); check security and the certificate of the server',
    ]);
    expect([smtp.mails, smtp.commands.includes('auth')]).toEqual([[], false]);
  });

  it.each<EmailSettings['security']>(['starttls', 'tls'])(
    'is not sent under %s to a server with an untrusted certificate',
    async (security) => {
      const { adapter, smtp } = await startMailer(security as SmtpSecurity, { security });
      expect(await refusalOf(adapter.deliver(aNotice(toAnn), signal))).toEqual([
        'target',
        'email: the server smtp.example.test cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT); check security and the certificate of the server',
      ]);
      expect([smtp.mails, smtp.commands.some((command) => /auth/i.test(command))]).toEqual([
        [],
        false,
      ]);
    },
  );

  it('passes the rules of egress, which record the host', async () => {
    trustServer();
    const { adapter, records } = await startMailer('starttls');
    await adapter.deliver(aNotice(toAnn), signal);
    expect(records).toEqual([
      {
        scope: { taskId: 'task-1', correlationId: null, tags: {}, isOwn: true },
        domain: 'smtp.example.test',
        mode: 'allowlist',
        reason: null,
      },
    ]);
  });

  it.each<[string, Partial<EmailSettings>]>([
    ['host', { host: 'smtp.evil.test' }],
    ['port', { port: 25 }],
    ['metadata address', { host: '169.254.169.254' }],
  ])('reaches no other %s', async (_, settings) => {
    const { adapter, smtp } = await startMailer('starttls', settings);
    const [fault, message] = await refusalOf(adapter.deliver(aNotice(toAnn), signal));
    expect([fault, message]).toEqual(['target', expect.stringMatching(/^email: egress blocked: /)]);
    expect(smtp.commands).toEqual([]);
  });

  it('reaches no host that resolves to a metadata address', async () => {
    const names = { 'smtp.example.test': ['169.254.169.254'] };
    const { adapter } = await startMailer('starttls', {}, names);
    expect(await refusalOf(adapter.deliver(aNotice(toAnn), signal))).toEqual([
      'target',
      expect.stringMatching(/^email: egress blocked: smtp\.example\.test resolves to a /),
    ]);
  });

  it('stops when its delivery is aborted', async () => {
    trustServer();
    const { adapter, smtp } = await startMailer('starttls');
    smtp.silence('MAIL');
    const stop = new AbortController();
    const refusal = refusalOf(adapter.deliver(aNotice(toAnn), stop.signal));
    await smtp.reached('MAIL');
    stop.abort();
    expect((await refusal)[0]).toBe('later');
    expect(smtp.mails).toEqual([]);
  });
});

describe('a further mail', () => {
  const approved = { kind: 'approved', approver: 'ann@example.com', note: '', at: 1 } as const;
  const reminded: ApprovalNotice = aNotice({ ...toAnn, stage: 'reminded' });

  it.each<[string, 'reminded' | 'ended' | 'finished', ApprovalNotice, string[]]>([
    ['a reminder', 'reminded', reminded, ['Reminder: approval needed: issue_refund']],
    [
      'an end with a known outcome',
      'ended',
      aNotice(toAnn, { ...approved, outcome: { kind: 'ran' } }),
      ['Approval ended: issue_refund', 'Outcome: ran'],
    ],
    [
      'an outcome',
      'finished',
      aNotice(toAnn, { ...approved, outcome: { kind: 'neverRan' } }),
      ['Outcome of the call: issue_refund', 'Outcome: never ran'],
    ],
  ])('has %s in the thread of the first one', async (_, news, notice, words) => {
    trustServer();
    const { adapter, smtp } = await startMailer('starttls');
    const ref = await adapter.deliver(aNotice(toAnn), signal);
    await adapter.update(ref, notice, news, signal);
    const [first, further] = smtp.mails as [TakenMail, TakenMail];
    expect(further.to).toEqual(['ann@example.com']);
    expect(headerOf(further, 'References')).toBe(headerOf(first, 'Message-ID'));
    for (const line of words) expect(bodyOf(further)).toContain(line);
  });

  it.each(['counted', 'written', 'repeated', 'changed'] as const)(
    'is not sent for news that is %s',
    async (news) => {
      const { adapter, smtp } = await startMailer('starttls');
      await adapter.update({ to: ['ann@example.com'] }, aNotice(toAnn), news, signal);
      expect(smtp.commands).toEqual([]);
    },
  );
});
