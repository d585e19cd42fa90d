import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { expectIntact, startTestAgent, story, textOf } from '../helpers/test-agent.ts';

needsBwrap();

/** The processes of this machine that have this text in their command line. */
function processesOf(text: string): string[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(text);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

it.each(isWithoutBwrap ? ['env'] : ['env', 'bwrap'])(
  'a canceled script that ignores the signal leaves no process, at level %s',
  async (sandbox) => {
    const folder = new AgentFolder({ egress: { sandbox } });
    // Two processes that a look at the machine tells from all others.
    const [own, child] = [randomInt(1e6, 1e9), randomInt(1e6, 1e9)];
    const lingering = `trap "" TERM\nsleep ${child} &\n(trap "" TERM; exec sleep ${own})\nwait\n`;
    writeFileSync(join(folder.path, 'scripts', 'hold.sh'), lingering);
    const agent = await startTestAgent({}, { folder });
    const sent = agent.send('t1', [{ tool: 'hold' }, { tool: 'pay' }, { say: 'never' }]);
    const running = () => [own, child].map((seconds) => processesOf(`sleep\0${seconds}\0`).length);
    await vi.waitFor(() => expect(running()).toEqual([1, 1]), patient);

    const canceled = await agent.post('/tasks/t1/cancel', { reason: 'cost_limit_exceeded' });

    expect(textOf(canceled)).toBe('canceled: cost_limit_exceeded');
    expect((await sent).body).toEqual(canceled.body);
    await vi.waitFor(() => expect(running()).toEqual([0, 0]), patient);
    expect(story(agent.audit('t1')).filter(([event]) => event !== 'llm_call')).toEqual([
      ['session_start'],
      ['tool_exec', { tool: 'hold', phase: 'start' }],
      [
        'tool_exec',
        { tool: 'hold', phase: 'end', outcome: 'unknown', error: 'canceled: cost_limit_exceeded' },
      ],
      ['invocation_cancelled', { reason: 'cost_limit_exceeded' }],
      ['session_end', { state: 'canceled' }],
    ]);
    await expectIntact(agent.auditPath);
  },
);
