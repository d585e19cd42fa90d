import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { holdpointHere } from './command-here.ts';

const service = `# the desk
agent_id: desk
model: {provider: scripted}
security:
  defer:
    enabled: false   # nothing is held yet
`;

const desk = (content = service) => agentFolder({ 'service.yaml': content });
const read = (directory: string) => readFileSync(join(directory, 'service.yaml'), 'utf8');

describe('holdpoint skills', () => {
  it('lists the skills by category, or those of one', async () => {
    const { code, stdout, stderr } = await holdpointHere([
      'skills',
      'list',
      '--category',
      'payments',
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('skills add NAME')]);
    expect(stdout).toBe(
      'payments\n  stripe-refunds  Looks up a payment at Stripe, and refunds it once a person agrees. held: refund_payment\n',
    );
    const all = JSON.parse((await holdpointHere(['skills', 'list', '--json'])).stdout) as {
      skills: { name: string }[];
    };
    expect(all.skills.length).toBeGreaterThanOrEqual(10);
    expect(await holdpointHere(['skills', 'list', '--category', 'cooking'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(
        'error: there is no skill of the category cooking; there are ',
      ),
    });
  });

  it('shows one, and names the nearest to an unknown one', async () => {
    const { code, stdout } = await holdpointHere(['skills', 'show', 'github-issues']);
    expect(code).toBe(0);
    expect(stdout).toContain('  held      comment_on_issue\n  egress    api.github.com\n');
    expect(stdout).toContain('  needs     GITHUB_TOKEN, GITHUB_API_URL (optional)\n');
    expect(stdout).toContain('## Tool: list_issues');
    const json = JSON.parse(
      (await holdpointHere(['skills', 'show', 'json-diff', '--json'])).stdout,
    );
    expect(json).toMatchObject({
      name: 'json-diff',
      scripts: ['files.mjs', 'json_diff.mjs', 'run.mjs'],
    });
    for (const command of ['show', 'add']) {
      expect(await holdpointHere(['skills', command, 'github-issue'])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(
          'there is no skill github-issue; the nearest is github-issues',
        ),
      });
    }
  });

  it('adds one with its rule, permits its host to no other tool, and the agent is valid once it has the variable', async () => {
    const directory = desk();
    const args = ['skills', 'add', 'github-issues', '--dir', directory];
    const preview = await holdpointHere([...args, '--preview']);
    const told = [
      `github-issues for the agent in ${directory}`,
      '  files    7 in skills/github-issues',
      '  egress   scripts can reach api.github.com',
      '  held     comment_on_issue: ask channel:console:*',
      '           security.defer.enabled is turned on for them',
      '  missing  GITHUB_TOKEN (required), GITHUB_API_URL (optional)',
      '',
    ].join('\n');
    expect(preview).toEqual({ code: 0, signal: null, stderr: '', stdout: told });
    expect([read(directory), existsSync(join(directory, 'skills'))]).toEqual([service, false]);
    const { code, stdout, stderr } = await holdpointHere(args);
    expect([code, stdout]).toEqual([0, `${told}added github-issues\n`]);
    expect(stderr).toContain(`it needs GITHUB_TOKEN: set it with \``);
    expect(read(directory)).toBe(`# the desk
agent_id: desk
model: {provider: scripted}
security:
  defer:
    enabled: true   # nothing is held yet
    tools:
      comment_on_issue:
        to: channel:console:*
`);
    const validate = ['validate', '--dir', directory];
    const env = { GITHUB_TOKEN: 'x' };
    expect(await holdpointHere(validate, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  held   comment_on_issue\n'),
    });
    expect(await holdpointHere(validate)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(
        'skill github-issues needs the environment variable GITHUB_TOKEN',
      ),
    });
    expect(await holdpointHere(args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the agent has a skill github-issues already'),
    });
  });

  it('uses the target of the other rules, and keeps an existing rule', async () => {
    const ruled = `agent_id: desk
model: {provider: scripted}
builtin_tools: [file_write]
security: {defer: {enabled: true, tools: {file_write: {to: ["channel:console:a", "channel:console:b"]}, post-message: {to: "channel:console:c", optional: true}}}}
`;
    const directory = desk(ruled);
    const email = await holdpointHere([
      'skills',
      'add',
      'email-send',
      '--dir',
      directory,
      '--json',
    ]);
    expect(JSON.parse(email.stdout)).toMatchObject({
      ...{
        added: true,
        held_added: ['send_mail'],
        asks: ['channel:console:a', 'channel:console:b'],
      },
      ...{ defer_turned_on: false, before: ruled },
    });
    expect(read(directory)).toContain('send_mail: {to: [channel:console:a, channel:console:b]}}}}');
    const slack = await holdpointHere([
      'skills',
      'add',
      'slack-post',
      '--dir',
      directory,
      '--json',
    ]);
    expect(JSON.parse(slack.stdout)).toMatchObject({ held_added: [] });
    const env = { SMTP_URL: 'x', SMTP_FROM: 'x', SLACK_POST_TOKEN: 'x' };
    expect(await holdpointHere(['validate', '--dir', directory], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  held   file_write, post_message, send_mail\n'),
    });
  });

  it('adds nothing to an agent with problems, with a tool of that name, or to another folder', async () => {
    const broken = desk('agent_id: desk\nmodel: {provider: nobody}\n');
    expect(await holdpointHere(['skills', 'add', 'json-diff', '--dir', broken])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('service.yaml has problems, which come first'),
    });
    const taken = agentFolder({
      'service.yaml': service,
      'SKILL.md': '---\nname: own\ndescription: d\n---\n## Tool: json-diff\n\nOurs.\n',
      'scripts/json-diff.sh': 'echo ours\n',
    });
    expect(await holdpointHere(['skills', 'add', 'json-diff', '--dir', taken])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the agent has a tool json_diff already'),
    });
    expect([read(taken), existsSync(join(taken, 'skills'))]).toEqual([service, false]);
    const nowhere = join(broken, 'none');
    expect((await holdpointHere(['skills', 'add', 'json-diff', '--dir', nowhere])).code).toBe(3);
    expect(
      (await holdpointHere(['skills', 'add', 'json-diff', '--dir', agentFolder({})])).code,
    ).toBe(5);
  });

  it('removes a skill without its rule: validate names the tool that is no longer held', async () => {
    const env = { GITHUB_TOKEN: 'x' };
    const warned =
      'skills/github-issues/SKILL.md:59:1: warning: the skill github-issues lists comment_on_issue as held, and no rule holds it; add comment_on_issue under security.defer.tools with security.defer.enabled: true, or remove it from held in the skill\n';
    const directory = desk();
    await holdpointHere(['skills', 'add', 'github-issues', '--dir', directory]);
    const held = read(directory);
    const said = async (content: string) => {
      writeFileSync(join(directory, 'service.yaml'), content);
      const { code, stderr } = await holdpointHere(['validate', '--dir', directory], { env });
      return [code, stderr.split(`${directory}/`).join('')];
    };
    expect(await said(held)).toEqual([0, '']);
    expect(await said(held.replace('comment_on_issue', 'comment-on-issue'))).toEqual([0, '']);
    expect(await said(service)).toEqual([0, warned]);
    expect(await said(held.replace('enabled: true', 'enabled: false'))).toEqual([0, warned]);
    const denied = '  guardrails: {enabled: true, denied_tools: [comment_on_issue]}\n';
    expect(await said(`${service}${denied}`)).toEqual([0, '']);
  });

  it('restores the configuration when the skill cannot be copied', async () => {
    const directory = agentFolder({
      'service.yaml': service,
      'skills/slack-post/note.txt': 'mine',
    });
    expect(await holdpointHere(['skills', 'add', 'slack-post', '--dir', directory])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it was left as it is'),
    });
    expect(read(directory)).toBe(service);
  });

  it('checks a skill of the user, and exits with 5 on errors', async () => {
    const folder = agentFolder({
      'skills/own/SKILL.md': '---\nname: own\ndescription: d\n---\n## Tool: ask\n\nAsks.\n',
      'skills/own/scripts/ask.mjs': 'fetch("https://api.example.com");\n',
      'skills/flat.md': '---\nname: Flat\n---\n',
    });
    const own = join(folder, 'skills/own');
    expect(await holdpointHere(['skills', 'validate', own])).toEqual({
      ...{ code: 0, signal: null, stdout: `${own}/SKILL.md is valid\n` },
      stderr: `${own}/scripts/ask.mjs:1:8: warning: ask.mjs mentions api.example.com, which egress_domains does not list; add it there\n`,
    });
    const flat = await holdpointHere([
      'skills',
      'validate',
      join(folder, 'skills/flat.md'),
      '--json',
    ]);
    expect(flat.code).toBe(5);
    expect(JSON.parse(flat.stdout)).toMatchObject({
      valid: false,
      findings: [
        { level: 'error', rule: 'name_format', line: 2 },
        { level: 'error', rule: 'description_present' },
        { level: 'warning', rule: 'tool_sections' },
      ],
      error: { code: 'skill_invalid', message: '2 errors in the skill' },
    });
    expect((await holdpointHere(['skills', 'validate', join(folder, 'none')])).code).toBe(3);
  });
});
