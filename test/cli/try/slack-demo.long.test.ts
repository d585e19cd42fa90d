import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, holdpoint, startCommand, temporaryFolder } from '../holdpoint.ts';
import { onTerminal, printed } from '../terminal.ts';

afterAll(cleanUp);

const refundedRow = /^A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,/;

describe.concurrent('try --slack-demo without a terminal', () => {
  it('plays a refund from the mention to the answer, and removes its folder', async () => {
    const home = await temporaryFolder();
    const { code, stdout, stderr } = await holdpoint(['try', '--slack-demo'], {
      env: { TMPDIR: home },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Ann Miller  #refunds\n  | @holdpoint Please refund order A-1042');
    expect(stdout).toContain('  | Approval needed: issue_refund\n');
    expect(stdout).toContain('  | [ Approve ] [ Reject ]\n');
    expect(stdout).toMatch(/Holdpoint {2}#refunds, changed\n {2}\| Approved: issue_refund\n/);
    expect(stdout).toContain('  | Approved by bob@example.com\n');
    expect(stdout).toMatch(/in a thread of #refunds\n {2}\| Your order is refunded\./);
    expect(stdout).toMatch(/^ {2}after {3}A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,/m);
    expect(stdout).toMatch(/\n {2}\d+ events, chain intact, 0 signed\n$/);
    expect(await readdir(home)).toEqual([]);
  });

  it('prints the story as one JSON document, and keeps an agent that asks in Slack', async () => {
    const dir = join(await temporaryFolder(), 'kept');
    const { code, stdout } = await holdpoint(['try', '--slack-demo', '--keep', dir, '--json']);
    expect(code).toBe(0);
    const story = JSON.parse(stdout) as { after: string; question: string[]; outcome: string[] };
    expect(story.after).toMatch(refundedRow);
    expect(story).toMatchObject({
      request: 'Please refund order A-1042, it arrived broken',
      answer: [expect.stringMatching(/^Your order is refunded\./)],
      audit: { ok: true },
    });
    expect(story.question.at(-1)).toBe('[ Approve ] [ Reject ]');
    expect(story.outcome).toContain('Approved by bob@example.com');
    const service = await readFile(join(dir, 'service.yaml'), 'utf8');
    expect(service).toContain('to: "channel:slack:#refunds"');
    expect(service).toContain('# The first refund of a session runs if it is small.');
  });

  it('cleans up when interrupted', async () => {
    const home = await temporaryFolder();
    const started = startCommand(['try', '--slack-demo'], { env: { TMPDIR: home } });
    await printed(started, '1. Ann asks');
    started.child.kill('SIGINT');
    expect(await started.ended).toMatchObject({ code: 130, signal: null });
    expect(await readdir(home)).toEqual([]);
  });
});

describe('try --slack-demo on a terminal', () => {
  it('shows the channel, and rejects with a reason', async () => {
    const home = await temporaryFolder();
    const terminal = onTerminal(['try', '--slack-demo'], { TMPDIR: home });
    await printed(terminal, '#refunds> ');
    terminal.child.stdin?.write('please refund A-1042\n');
    await printed(terminal, 'Approve, reject or leave? ');
    terminal.child.stdin?.write('reject\n');
    await printed(terminal, 'Reason (may be empty): ');
    terminal.child.stdin?.write('not broken at all\n');
    await printed(terminal, /Rejected by ann@example\.com.*not broken at all/s);
    terminal.child.stdin?.write('leave\n');
    expect((await terminal.ended).code).toBe(0);
    expect(await readdir(home)).toEqual([]);
  });
});
