import { join } from 'node:path';
import { createAuthenticator } from '../../src/actors/access/access.ts';
import { Admission } from '../../src/actors/access/admission/admission.ts';
import { parseConfig } from '../../src/actors/config/config.ts';
import { createEgress, type Egress } from '../../src/actors/outbound/egress/egress.ts';
import { PushNotifications } from '../../src/actors/outbound/push/push-notifications.ts';
import type { People } from '../../src/actors/people/people.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Ids } from '../../src/actors/ports/ids.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { Tool } from '../../src/actors/ports/tool.ts';
import { agentEntity, SqliteStore } from '../../src/actors/records/records.ts';
import type { TaskSystem } from '../../src/actors/tasks/tasks.ts';
import { GateTools } from '../../src/actors/tools/tools.ts';
import { createSystem } from '../../src/agent/start/create-system.ts';
import { type KeptChannels, keepChannels } from '../../src/agent/start/keep-channels.ts';
import { writePush } from '../../src/http/a2a/push-writer.ts';
import { createApp } from '../../src/http/app.ts';
import { refundBounds } from '../helpers/limited-refunds.ts';
import { openDoor } from '../helpers/open-door.ts';
import type { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedSurface } from './simulated-surface.ts';

/** What must never be read anywhere. */
export const canary = 'canary-7f3a';

/** Where the log of a simulated agent is in its folder. */
export const logPath = (folder: string): string => join(folder, 'audit.ndjson');

/** An agent with tools of its own, or a gate for the calls of other programs. */
export type SimulatedKind = 'agent' | 'gate';

/** What a simulated agent is made of. */
export interface SimulatedParts {
  kind: SimulatedKind;
  /** Whether the policy denies the held tool now. */
  isStrict: boolean;
  folder: string;
  onRestart: 'abandon' | 'resume';
  network: SimulatedNetwork;
  /** The people whose groups decide on the calls of a gate. */
  people: People;
  tools: Tool[];
  clock: Clock;
  ids: Ids;
  log: Log;
}

const kinds: Readonly<Record<SimulatedKind, string>> = {
  agent: 'model: {provider: scripted, max_time: 5m}',
  gate: `gate:
  release_within: 15m
  outcome_within: 10m
  tools:
    pay: {schema: {type: object, properties: {to: {type: string}, amount: {type: number}}, required: [to]}}
    look: {}
    refund: {}
    wipe: {}`,
};

/** The calls of a gate are decided by groups. */
function approversOf(kind: SimulatedKind, quorum: string | null): string {
  if (kind === 'agent') return '';
  return quorum === null ? ', approvers: ["group:finance"]' : `, quorum: ${quorum}`;
}

const configText = ({ kind, isStrict, onRestart }: SimulatedParts) => `
agent_id: simulated
${kinds[kind]}
security:
  defer:
    enabled: true
${kind === 'agent' ? `    on_restart: ${onRestart}\n` : ''}    tools:
      pay:
        - {when: 'has(args.amount) && double(args.amount) > 100.0', to: "channel:webhook:desk", timeout: 4m, edit: true${approversOf(kind, '{"group:finance": 1, "group:legal": 1}')}}
        - {to: "channel:webhook:desk", timeout: 5m, edit: true${approversOf(kind, null)}}
  limits: ${JSON.stringify(refundBounds('refund').limits)}
  effects: ${JSON.stringify(refundBounds('refund').effects)}
  guardrails: {enabled: true, denied_tools: [wipe${isStrict ? ', pay' : ''}]}
egress:
  mode: allowlist
  allowed_domains: [api.example.com, hook.example.com, rebound.example.com]
`;

/**
 * An agent put together as the daemon does it, without what listens: the same store, log, charts, policy, egress,
 * admission, channels and push notifications, over a simulated disk, network and clock.
 */
export class SimulatedAgent {
  readonly system: TaskSystem;
  readonly push: PushNotifications;
  readonly admission: Admission;
  readonly surface: SimulatedSurface;
  readonly #channels: KeptChannels;
  readonly #egress: Egress;

  private constructor(
    parts: Pick<SimulatedAgent, 'system' | 'push' | 'admission' | 'surface'> & { egress: Egress },
    channels: KeptChannels,
  ) {
    this.system = parts.system;
    this.push = parts.push;
    this.admission = parts.admission;
    this.surface = parts.surface;
    this.#channels = channels;
    this.#egress = parts.egress;
  }

  /** Starts an agent in a folder. Rejects when its disk refuses. */
  static async start(parts: SimulatedParts): Promise<SimulatedAgent> {
    const { folder, network, clock, log } = parts;
    const reading = parseConfig(configText(parts), { file: 'service.yaml', env: {} });
    if (!reading.ok) throw new Error(reading.problems.map(({ message }) => message).join('\n'));
    const { config, layers } = reading;
    const entity = agentEntity(config.agent_id, {});
    const store = await SqliteStore.open({
      path: join(folder, 'tasks.db'),
      audit: {
        path: logPath(folder),
        chain: true,
        entity,
        rotation: { maxBytes: 24_000, daily: true, keep: 0 },
      },
    });
    const hosts = ['desk.example.com', 'platform.example.com'];
    const own = new Map(parts.tools.map((tool) => [tool.name, tool]));
    const egress = createEgress({
      mode: config.egress.mode,
      allowedDomains: config.egress.allowed_domains,
      allowPrivateIps: false,
      allowedPrivateCidrs: [],
      propagateTo: [],
      endpoints: hosts.map((host) => ({ host, port: 443, source: 'simulation' })),
      record: (hop) => system.egress.record(hop),
      lookup: network.lookup,
      pool: network.pool,
    });
    const system: TaskSystem = createSystem({
      ...{ ...parts, config, egress, guardrails: layers.guardrails, modify: layers.modify },
      toolbox: {
        tools: config.gate === undefined ? own : new GateTools(config.gate),
        skills: [],
        isProgressive: false,
        problems: [],
        warnings: [],
      },
      audit: { store, entity, shared: null },
      people: parts.people,
      instructions: '',
      policySha256: '0'.repeat(64),
      isAuthOn: false,
      directory: folder,
      env: {},
      secretValues: [canary],
      inspect: undefined,
    });
    const push = new PushNotifications({
      ...{
        rows: store.push,
        find: (id) => system.reads.find(id),
        write: (task, version) => writePush(task, version, 'artifact'),
      },
      ...{ egress, clock, log },
    });
    const admission = new Admission({
      settings: {
        url: 'https://platform.example.com/check',
        token: canary,
        orgId: '',
        workspaceId: '',
      },
      ...{ agentId: config.agent_id, clock, log, outbound: egress },
    });
    const secret = `whsec_${Buffer.from(canary.repeat(3)).toString('base64')}`;
    const channels = keepChannels({
      ...{ config, system, store, egress, push, clock, log, shared: null },
      settings: {
        slack: null,
        telegram: null,
        webhook: {
          dashboardUrl: null,
          targets: { desk: { url: 'https://desk.example.com/approvals', secret } },
        },
      },
    });
    await channels.open({
      surface: { url: 'http://127.0.0.1:8080', token: null },
      publicUrl: 'http://127.0.0.1:8080',
    });
    await system.start();
    channels.start();
    const app = createApp({
      ...openDoor,
      ...{ system, push, admission, clock, log, ids: parts.ids, onDisconnect: 'keep' },
      authenticator: createAuthenticator({ runtimeToken: canary, tokens: [], isOptional: true }),
      gate:
        config.gate === undefined
          ? null
          : {
              outcomeWithin: config.gate.outcome_within,
              onHookAsked: () => undefined,
              releaseWithin: config.gate.release_within,
              acs: null,
            },
    });
    const surface = new SimulatedSurface(app);
    return new SimulatedAgent({ system, push, egress, admission, surface }, channels);
  }

  /** Stops as the daemon does, giving tasks at work five seconds. */
  async stop(): Promise<void> {
    await this.#channels.stopListening();
    await this.system.drain(5_000);
    this.surface.cut();
    await this.#channels.stop();
    await this.push.stop();
    this.admission.stop();
    await this.system.stop();
    await this.#egress.close();
  }
}
