import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { modelCommands, modelRules } from '../../packages/testing/arbitraries.ts';
import type {
  ModelCommand,
  ModelRules,
  ReferenceModel,
} from '../../packages/testing/model-command.ts';
import { settingsOf } from '../../packages/testing/model-settings.ts';
import { step } from '../../packages/testing/reference-model.ts';
import type { AgentClient } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import {
  agentResource,
  type IdentityProvider,
  startIdentityProvider,
} from '../helpers/identity-provider.ts';
import { patient } from '../helpers/patient.ts';
import { runs } from '../helpers/runs.ts';
import { expectIntact, launchAgent, type TestAgent } from '../helpers/test-agent.ts';
import { ask, wireSurfaces } from './a2a/wire-surfaces.ts';

const people = ['ann@example.com', 'bob@example.com', 'eve@example.com'];

/** Where a task can be begun. */
const doors = ['legacy', ...wireSurfaces.map(({ name }) => name), 'mcp'];

/** A daemon over HTTP that executes the commands of a reference model. */
class Daemon {
  readonly folder: AgentFolder;
  agent!: TestAgent;
  /** The ids of tasks by those of the model. */
  readonly #ids = new Map<string, string>();
  readonly #leave: (() => unknown)[] = [];

  readonly #provider: IdentityProvider;

  constructor(rules: ModelRules, provider: IdentityProvider) {
    this.#provider = provider;
    const settings = { issuer: provider.issuer, audience: agentResource };
    this.folder = new AgentFolder({
      ...settingsOf(rules, 'pay'),
      auth: { required: true, providers: [{ type: 'oidc', name: 'sso', settings }] },
      server: { mcp: true },
    });
  }

  async start(): Promise<void> {
    this.agent = await launchAgent({}, { folder: this.folder });
  }

  async close(): Promise<void> {
    for (const leave of this.#leave) await leave();
    await this.agent.stop();
    this.folder.remove();
  }

  /** Returns the status that a command is answered with. */
  async run(command: ModelCommand, door: string): Promise<number> {
    if (command.type === 'restart') {
      await this.agent.stop();
      await this.start();
      return 200;
    }
    if (command.type === 'pass') return 200;
    if (command.type === 'send') return this.#send(command, door);
    const id = this.idOf(command.id);
    if (command.type === 'decide') {
      const { decision, email, by, note = '', args } = command;
      const claimed = email === null ? {} : { approver_email: email };
      const said = { decision, note, ...claimed, ...(args === undefined ? {} : { args }) };
      const caller = await this.#as(by);
      if (door.startsWith('HTTP')) return this.#decideInList(caller, id, said);
      return (await caller.decide(id, said)).status;
    }
    const operator = this.agent.as(this.agent.token);
    const path = `/tasks/${id}`;
    const answer = command.type === 'read' ? operator.get(path) : operator.post(`${path}/cancel`);
    return (await answer).status;
  }

  /** Decides like a person who has just seen the call. */
  async #decideInList(caller: AgentClient, id: string, said: object): Promise<number> {
    const { body } = await this.agent.as(this.agent.token).get(`/tasks/${id}`);
    const { id: deferral_id = 'none', args_sha256 = 'none' } = body.metadata?.deferral ?? {};
    const decisions = [{ task_id: id, ...said, deferral_id, args_sha256 }];
    const answer = await caller.post('/deferrals/decisions', { decisions });
    return answer.body.decisions[0].status;
  }

  /** Returns the state of a task as `GET /tasks/{id}` has it; `null` for none. */
  async stateOf(id: string): Promise<string | null> {
    const operator = this.agent.as(this.agent.token);
    const { status, body } = await operator.get(`/tasks/${this.idOf(id)}`);
    return status === 404 ? null : (body as { status: { state: string } }).status.state;
  }

  idOf(id: string): string {
    return this.#ids.get(id) ?? id;
  }

  async #send(
    { id, by, calls }: Extract<ModelCommand, { type: 'send' }>,
    door: string,
  ): Promise<number> {
    const caller = await this.#as(by);
    const script = [...Array.from({ length: calls }, () => ({ tool: 'pay' })), { say: 'done' }];
    const surface = wireSurfaces.find(({ name }) => name === door);
    // A task that there is runs again where callers name it themselves.
    if (this.#ids.has(id) || door === 'legacy') return this.#sendNamed(id, caller, script);
    if (door === 'mcp') return this.#callTool(id, caller);
    const message = surface!.playing(script);
    const configuration =
      surface!.version === '1.0' ? { returnImmediately: true } : { blocking: false };
    const answer = await ask(caller, surface!, 'send', { message, configuration });
    this.#ids.set(id, (surface!.taskOf(answer) as { id: string }).id);
    // Over HTTP+JSON of 0.3.0 a task is created.
    return answer.status === 201 ? 200 : answer.status;
  }

  async #sendNamed(id: string, caller: AgentClient, script: object[]): Promise<number> {
    const name = this.idOf(id);
    const sent = new AbortController();
    this.#leave.push(() => sent.abort());
    const message = { role: 'user', messageId: 'm1', parts: [{ kind: 'data', data: { script } }] };
    const response = await caller.open('POST', '/tasks/sendSubscribe', {
      body: { id: name, message },
      signal: sent.signal,
    });
    if (response.status === 200) this.#ids.set(id, name);
    // A caller who leaves would give the task up.
    if (response.status !== 200) await response.body?.cancel();
    return response.status;
  }

  /** Over MCP a call is the whole task. */
  async #callTool(id: string, { url }: AgentClient, token = this.#token): Promise<number> {
    const client = new Client({ name: 'model', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    this.#leave.push(() => client.close());
    const { promise, resolve } = Promise.withResolvers<string>();
    const onprogress = (told: object) =>
      resolve((told as { _meta: { task_id: string } })._meta.task_id);
    client
      .callTool({ name: 'pay', arguments: {} }, undefined, { onprogress })
      .catch(() => undefined);
    this.#ids.set(id, await promise);
    return 200;
  }

  #token = '';

  async #as(person: string | null): Promise<AgentClient> {
    const now = Math.floor(Date.now() / 1_000);
    const who = { sub: person ?? '', email: person ?? '', email_verified: true };
    const when = { iat: now, exp: now + 300 };
    this.#token = await this.#provider.forge({
      iss: this.#provider.issuer,
      aud: agentResource,
      ...who,
      ...when,
    });
    return this.agent.as(this.#token);
  }
}

/** Without a door of its own a command takes the first; a call over MCP is one call, which ends with it. */
const plays = fc.record({
  rules: modelRules(people).map((rules) => ({ ...rules, timeout: 600_000 })),
  commands: modelCommands(people),
  doors: fc.infiniteStream(fc.constantFrom(...doors)),
});

function doorFor(command: ModelCommand, rules: ModelRules, door: string): string {
  if (command.type !== 'send' || door !== 'mcp') return door;
  return command.calls === 1 && rules.onReject === 'fail' ? door : 'legacy';
}

describe('the daemon, next to a one-page model of its rules,', () => {
  it('answers every command on every surface like the model', async () => {
    const provider = await startIdentityProvider();
    await fc.assert(
      fc.asyncProperty(plays, async ({ rules, commands, doors: chosen }) => {
        const daemon = new Daemon(rules, provider);
        await daemon.start();
        try {
          let model: ReferenceModel = { rules, now: 0, tasks: new Map() };
          for (const command of commands) {
            // Time is real here; the library's own tests let it pass.
            if (command.type === 'pass') continue;
            const [next, answer] = step(model, command);
            const door = doorFor(command, rules, chosen.next().value);
            const said = `${JSON.stringify(command)} through ${door}`;
            expect(await daemon.run(command, door), said).toBe(answer.status);
            model = next;
            await vi.waitFor(async () => {
              const states = [...model.tasks.keys()].map(async (id) => daemon.stateOf(id));
              const due = [...model.tasks.values()];
              expect(await Promise.all(states), said).toEqual(due.map(({ state }) => state));
              const ran = due.reduce((sum, task) => sum + task.ran, 0);
              expect(daemon.folder.paid.length, said).toBe(ran);
            }, patient);
          }
          await expectIntact(daemon.agent.auditPath);
        } finally {
          await daemon.close();
        }
      }),
      { numRuns: runs(20) },
    );
  }, 300_000);
});
