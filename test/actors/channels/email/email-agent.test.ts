import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../../helpers/agent-folder.ts';
import { bodyOf, FakeSmtp, headerOf } from '../../../helpers/fake-smtp.ts';
import { deferring, reached, startInFolder, textOf } from '../../../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

/** An agent that sends mails about held calls of `pay`. */
async function startMailer(rule: object = {}, settings: object = {}) {
  const smtp = await FakeSmtp.start();
  const approvers = ['ann@example.com', 'group:desk'];
  const folder = new AgentFolder({
    ...deferring({ to: 'channel:email:*', approvers, ...rule }),
    channels: ['email'],
    server: { public_url: 'https://agent.example.com' },
  });
  onTestFinished(() => folder.remove());
  const own = { host: '127.0.0.1', port: smtp.port, security: 'none', user: smtp.user };
  const config = { settings: { ...own, from: 'holds@example.com', ...settings } };
  writeFileSync(join(folder.path, 'email-config.yaml'), JSON.stringify(config));
  const people = { groups: { desk: ['bob@example.com'] } };
  writeFileSync(join(folder.path, 'people.yaml'), JSON.stringify(people));
  const agent = await startInFolder(folder, { SMTP_PASSWORD: smtp.password });
  return { smtp, agent, folder };
}

describe('an agent that sends mails', () => {
  it('mails all approvers, links to the page, and sends the outcome in the same thread', async () => {
    const { smtp, agent } = await startMailer();
    const answer = agent.send('t1', pay);
    const [asked] = await smtp.took(1);
    if (asked === undefined) throw new Error('no mail');
    expect(asked.to).toEqual(['ann@example.com', 'bob@example.com']);
    expect(headerOf(asked, 'Subject')).toMatch(/^Approval of pay \(.{8}\)$/);
    expect(headerOf(asked, 'References')).toBeUndefined();
    const body = bodyOf(asked);
    expect(body).toContain('amount: 5');
    expect(body).toContain('Decide on the page: https://agent.example.com');
    expect(body).not.toMatch(/src=|approve\?|decision=/);
    const decision = { decision: 'approve', approver_email: 'ann@example.com' };
    expect((await agent.post('/tasks/t1/decisions', decision)).status).toBe(200);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    const ended = (await smtp.took(2)).at(-1);
    if (ended === undefined) throw new Error('no mail');
    expect(ended.to).toEqual(asked.to);
    expect(headerOf(ended, 'References')).toBe(headerOf(asked, 'Message-ID'));
    expect(headerOf(ended, 'Subject')).toBe(`Re: ${headerOf(asked, 'Subject')}`);
    expect(bodyOf(ended)).toContain('Approved by ann@example.com');
    const sent = agent.audit('t1').filter(({ event }) => event.startsWith('egress'));
    expect(sent[0]).toMatchObject({ event: 'egress_allowed', fields: { domain: '127.0.0.1' } });
    const told = inspect(agent.log, { depth: 20 }) + readFileSync(agent.auditPath, 'utf8');
    expect(told).not.toContain('canary');
  });

  it.each([
    ['a busy server', 'MAIL', '421 later'],
    ['a full mailbox', 'RCPT', '452 later'],
  ])('sends again after %s', async (_, command, answer) => {
    const { smtp, agent } = await startMailer({ to: 'channel:email:ann@example.com' });
    smtp.fail(command, answer);
    void agent.send('t1', pay).catch(() => undefined);
    const [mail] = await smtp.took(1);
    expect(mail?.to).toEqual(['ann@example.com']);
  });

  it('shows the text of a model as plain text, in no header and no markup', async () => {
    const evil = '<img src=https://evil.example/x>\r\nBcc: eve@example.com\r\n\r\n.\r\n<script>';
    const { smtp, agent } = await startMailer({ context_template: '{args.why}' });
    void agent.send('t1', [{ tool: 'pay', args: { why: evil } }]).catch(() => undefined);
    const [mail] = await smtp.took(1);
    if (mail === undefined) throw new Error('no mail');
    expect(mail.to).toEqual(['ann@example.com', 'bob@example.com']);
    expect([headerOf(mail, 'Bcc'), headerOf(mail, 'Cc')]).toEqual([undefined, undefined]);
    const html = bodyOf(mail).split('text/html')[1] ?? '';
    expect(html).toContain('&lt;img src=https://evil.example/x&gt;');
    expect(html).not.toMatch(/<img|<script/);
  });

  it('holds the call while the server refuses the sign-in', async () => {
    const { smtp, agent } = await startMailer({}, { user: 'other' });
    void agent.send('t1', pay).catch(() => undefined);
    await reached(agent, 't1', 'deferred');
    expect(smtp.mails).toEqual([]);
  });
});
