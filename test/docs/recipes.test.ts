import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { decide, startGate, waitingIn } from '../packages/client/a-gate.ts';
import { clone, fencesOf, readPage } from './fences.ts';

const [langGraph = '', openAi = ''] = fencesOf(readPage('docs/recipes.md')).flatMap(
  ({ language, text }) => (language === 'python' ? [text] : []),
);

const bash = { command: 'rm -rf build' };

const graphProgram = `
from langchain_core.messages import AIMessage

class Bash:
    name = "Bash"
    def invoke(self, args):
        return f"ran {args['command']}"

call = {"name": "Bash", "args": ${JSON.stringify(bash)}, "id": "call-1"}
state = {"messages": [AIMessage("", [call])]}
node = held_tools([Bash()])
print(node(state, {"configurable": {"thread_id": "thread-1"}})["messages"][0].content)
`;

const agentProgram = `
print(bash(ToolContext({"session": "thread-1"}, "call-1"), ${JSON.stringify(bash.command)}))
`;

/** Starts a recipe of the page with packages that have the documented interfaces only. */
function startPython(program: string, url: string) {
  const child = spawn('python3', ['-c', program.replaceAll('http://localhost:8080', url)], {
    cwd: clone,
    env: {
      ...process.env,
      PYTHONPATH: `${join(clone, 'clients/python')}:${join(clone, 'test/docs/python-stubs')}`,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => output.push(piece));
  const ended = once(child, 'close').then(() => Buffer.concat(output).toString());
  return { child, ended };
}

describe.each([
  ['LangGraph', `${langGraph}\n${graphProgram}`],
  ['OpenAI Agents', `${openAi}\n${agentProgram}`],
])('the recipe of %s for Python', (_, program) => {
  it('resumes with the same hold after a kill during its wait', async () => {
    const agent = await startGate();
    const first = startPython(program, agent.url);
    const id = await waitingIn(agent);
    first.child.kill('SIGKILL');
    await first.ended;
    const second = startPython(program, agent.url);
    expect(await decide(agent, { decision: 'approve' })).toBe(id);
    expect(await second.ended).toBe('ran rm -rf build\n');
    const asked = agent.audit().filter(({ event }) => event === 'hold_deferred');
    expect(asked.map(({ task_id }) => task_id)).toEqual([id]);
    const { key, outcome } = (await agent.get(`/holds/${id}`)).body;
    expect([key, outcome]).toMatchObject(['thread-1:call-1', { status: 'succeeded' }]);
  });

  it('passes a rejection to the model', async () => {
    const agent = await startGate();
    const asked = startPython(program, agent.url);
    await decide(agent, { decision: 'reject', note: 'no' });
    expect(await asked.ended).toBe('Bash did not run: defer: rejected by unknown: no\n');
  });
});

interface N8nNode {
  name: string;
  parameters: Record<string, any>;
}

describe('the workflow of n8n', () => {
  const workflow = JSON.parse(readFileSync(join(clone, 'examples/n8n/workflow.json'), 'utf8'));
  const nodeOf = (name: string): N8nNode =>
    workflow.nodes.find((node: N8nNode) => node.name === name);

  /** Evaluates a parameter as n8n does: `={{ … }}` alone has the type of its value, text around it is joined. */
  function valueOf(parameter: string, results: Map<string, any>, json: unknown): any {
    if (!parameter.startsWith('=')) return parameter;
    const ask = (code: string) =>
      runInNewContext(`(${code})`, {
        $: (name: string) => ({ first: () => ({ json: results.get(name) }) }),
        $json: json,
        $execution: { id: '7' },
      });
    const [, only] = /^=\{\{((?:(?!\}\}\s*\{\{).)*)\}\}$/s.exec(parameter) ?? [];
    if (only !== undefined && !parameter.slice(3).includes('{{')) return ask(only);
    return parameter.slice(1).replace(/\{\{(.*?)\}\}/g, (_, code: string) => String(ask(code)));
  }

  /** Plays the workflow; resolves with the names of the nodes that ran. */
  async function play(url: string, wait: string): Promise<string[]> {
    const results = new Map<string, any>();
    const passed: string[] = [];
    let [name, json]: [string | undefined, any] = ['Start', {}];
    while (name !== undefined && passed.length < 10_000) {
      passed.push(name);
      const { parameters } = nodeOf(name);
      let output = 0;
      if (name === 'The call') {
        json = { ...valueOf(parameters['jsonOutput'], results, json), gate: url };
      } else if (parameters['url'] !== undefined) {
        const headers = parameters['headerParameters']?.parameters ?? [];
        const response = await fetch(valueOf(parameters['url'], results, json), {
          method: parameters['method'],
          headers: {
            'content-type': 'application/json',
            ...Object.fromEntries(headers.map((each: any) => [each.name, wait || each.value])),
          },
          body: JSON.stringify(valueOf(parameters['jsonBody'], results, json)),
        });
        expect(response.ok).toBe(true);
        json = await response.json();
      } else if (parameters['output'] !== undefined) {
        output = valueOf(parameters['output'], results, json);
      }
      results.set(name, json);
      name = workflow.connections[name]?.main[output]?.[0]?.node;
    }
    return passed;
  }

  it('polls until the call is decided, runs its step and reports the outcome', async () => {
    const agent = await startGate();
    const playing = play(agent.url, 'wait=0');
    const id = await decide(agent, { decision: 'approve' });
    const passed = await playing;
    expect(passed.slice(0, 4)).toEqual(['Start', 'The call', 'Ask the gate', 'May it run?']);
    expect(passed.slice(-4)).toEqual([
      ...['Ask the gate', 'May it run?', 'Your step', 'Report the outcome'],
    ]);
    expect((await agent.get(`/holds/${id}`)).body).toMatchObject({
      ...{ key: 'n8n:7', status: 'approved', outcome: { status: 'succeeded' } },
    });
  });

  it('runs nothing after a rejection', async () => {
    const agent = await startGate();
    const playing = play(agent.url, '');
    await decide(agent, { decision: 'reject' });
    expect(await playing).toEqual(['Start', 'The call', 'Ask the gate', 'May it run?']);
  });

  it('has one node for each name, and connects no others', () => {
    const names = workflow.nodes.map(({ name }: N8nNode) => name);
    const connected = Object.entries(workflow.connections).flatMap(([from, { main }]: any) => [
      from,
      ...main.flat().map(({ node }: any) => node),
    ]);
    expect(new Set(names).size).toBe(names.length);
    expect(connected.filter((name) => !names.includes(name))).toEqual([]);
  });
});
