import { join, resolve } from 'node:path';
import { readSection, type ServiceConfig } from '../../actors/config/config.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import type { Session } from '../session.ts';
import { databaseAddress, urlVariable } from '../store/database-address.ts';
import type { Check, Finding, Subject } from './check.ts';
import { checkAdmission } from './check-admission.ts';
import { checkAudit, checkConfig } from './check-agent.ts';
import { checkChannels } from './check-channels.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkIdentity } from './check-identity.ts';
import { checkLog } from './check-log.ts';
import { checkConnections, checkNode, checkPort } from './check-machine.ts';
import { checkMcpServers } from './check-mcp.ts';
import { checkModel } from './check-model.ts';
import { checkPolicy } from './check-policy.ts';
import { checkSecrets, secretFiles } from './check-secrets.ts';
import { checkSharedStore } from './check-shared-store.ts';
import { checkPermissions, checkStateFolder } from './check-state.ts';
import { checkStore } from './check-store.ts';
import { sendableOf } from './sendable.ts';

export interface DoctorOptions {
  dir: string;
}

/** `doctor`: checks this machine and an agent, and suggests fixes. */
export async function doctor(session: Session, { dir }: DoctorOptions): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const { env, own, finding } = await checkSecrets(session, directory);
  const subject = { directory, stateFolder: join(directory, '.service'), env, own };
  const checks = await examine(subject, finding);
  for (const check of checks) printCheck(output, check);
  const failed = checks.filter(({ status }) => status === 'fail').length;
  if (failed === 0) {
    output.json({ checks });
    return;
  }
  throw new CliError(`${failed} of ${checks.length} checks failed`, {
    code: 'unhealthy',
    hint: 'fix them as shown',
    details: { checks: checks.map((check) => ({ ...check })) },
  });
}

async function examine(subject: Subject, secrets: Finding): Promise<Check[]> {
  const { directory, env } = subject;
  const findings = await checkAgent(directory, env);
  const { config } = findings;
  const sendable = await sendableOf(subject, findings);
  const audit = config?.audit ?? { path: '.service/audit.ndjson', chain: true };
  const store = config?.store ?? readSection(directory, 'store', env);
  const log = resolve(directory, audit.path);
  const files = store.kind === 'sqlite' ? [resolve(directory, store.path)] : [];
  const found: [check: string, finding: Finding][] = [
    ['node', checkNode()],
    ['port', await checkPort(subject)],
    ['connections', checkConnections()],
    ['secrets', secrets],
    ['config', checkConfig(subject, findings)],
    ['state', await checkStateFolder(subject, [...files, log])],
    ...(await checkRecords(subject, {
      store,
      audit,
      log,
      agentId: config?.agent_id ?? null,
    })),
    ['permissions', checkPermissions(subject, [...files, ...secretFiles(directory, env)])],
    ['admission', await checkAdmission({ env: sendable.admission }, config?.agent_id ?? null)],
    ['model', await checkModel(config, sendable.models)],
    ['identity', await checkIdentity(sendable)],
    ...(await checkChannels({ ...subject, slackGroups: findings.slackGroups }, config, sendable)),
    ['daemon', await checkDaemon(subject)],
    ...(config !== null && config.mcp.servers.length > 0
      ? [['mcp', await checkMcpServers(subject)] as [string, Finding]]
      : []),
    ...checkPolicy(subject, findings),
  ];
  return found.map(([check, finding]) => ({ check, ...finding }));
}

/** The agent's stored data, as far as its configuration locates it. */
interface Records {
  store: ServiceConfig['store'];
  audit: Pick<ServiceConfig['audit'], 'chain'>;
  /** Path of the current log file. */
  log: string;
  agentId: string | null;
}

async function checkRecords(
  { directory, env, own }: Subject,
  { store, audit, log, agentId }: Records,
): Promise<[check: string, finding: Finding][]> {
  if (store.kind === 'sqlite') {
    const path = resolve(directory, store.path);
    return [
      ['audit', await checkAudit(log, audit.chain)],
      ['log', await checkLog({ store: path, log, chain: audit.chain })],
      ['store', checkStore(path)],
    ];
  }
  // The database driver would send the password to a host named by the folder.
  if (own[urlVariable(store)] !== undefined) delete process.env['PGPASSWORD'];
  // The configuration check already reports the missing variable.
  if ((env[urlVariable(store)] ?? '') === '') return [];
  const address = databaseAddress({ store, agentId }, env);
  return checkSharedStore({ directory, address, isChained: audit.chain });
}

function printCheck(output: Output, { check, status, message, fix }: Check): void {
  const { green, yellow, red } = output.colours;
  const paint = { pass: green, warn: yellow, fail: red }[status];
  output.line(`${paint(status)}  ${check.padEnd(11)}  ${message}`);
  if (fix !== undefined) output.line(`                   fix: ${fix}`);
}
