import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DashboardSettings, readDashboard } from '../../src/actors/config/config.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import { databaseCertificates } from './database-certificates.ts';
import { startFrontProxy } from './front-proxy.ts';
import { deferring } from './test-agent.ts';
import { openDashboard, type TestDashboard } from './test-dashboard.ts';
import { startWebIssuer, type WebIssuer, type WebIssuerOptions, webClient } from './web-issuer.ts';
import { WebVisitor } from './web-visitor.ts';
import { WorkspaceAgent } from './workspace-agents.ts';

export const teamOrigin = 'https://ops.example.com';

const verified = (email: string, more: object = {}) => ({ email, email_verified: true, ...more });

/** An operator, an approver, a person without either right, and one without a verified email. */
const teamPeople: WebIssuerOptions['people'] = {
  olga: verified('olga@example.com', { name: 'Olga', groups: ['platform'] }),
  ann: verified('ann@example.com', { name: 'Ann', groups: ['finance'] }),
  eve: verified('eve@example.com', { groups: 'sales' }),
  liar: { email: 'olga@example.com', email_verified: false },
};

/** A dashboard behind a proxy, at which people of an issuer sign in. */
export interface TeamDesk {
  issuer: WebIssuer;
  /** Claims of each person, which a test may change. */
  people: WebIssuerOptions['people'];
  /** The public address. */
  origin: string;
  /** The dashboard at its own address, with its token. */
  page: TestDashboard;
  proxy: string;
  log: { level: string; fields: object; message: string }[];
  agent: WorkspaceAgent;
  /** Serves the workspace anew; resolves with the address of a proxy in front of it. */
  restart: () => Promise<string>;
  visit: () => WebVisitor;
  /** Signs a person in. */
  signedIn: (person: string) => Promise<WebVisitor>;
}

export interface TeamDeskOptions extends Partial<WebIssuerOptions> {
  /** Keys of `dashboard.yaml` that differ. */
  settings?: object;
  rule?: object;
  clock?: Clock;
  /** Serves browsers over TLS at an address of this machine. */
  isOnTls?: boolean;
}

/** Serves such a dashboard with one agent that does not run yet, until the test has finished. */
export async function openTeamDesk({
  settings = {},
  rule = { approvers: ['ann@example.com'] },
  clock,
  isOnTls = false,
  ...options
}: TeamDeskOptions = {}): Promise<TeamDesk> {
  const people = { ...teamPeople };
  let port = 0;
  const target = () => `http://127.0.0.1:${port}`;
  const own = isOnTls ? await startFrontProxy({ target, tls: databaseCertificates.here }) : null;
  const origin = own ?? teamOrigin;
  const issuer = await startWebIssuer({
    redirectUri: `${origin}/sign-in/callback`,
    signedOutUri: `${origin}/`,
    people,
    ...options,
  });
  const log: TeamDesk['log'] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, fields, message });
  let agent!: WorkspaceAgent;
  const prepare = (workspace: string): void => {
    agent = new WorkspaceAgent(workspace, 'till', agentSettings(issuer, rule));
    const written = {
      sign_in: { issuer: issuer.issuer, client_id: webClient, groups_claim: 'groups' },
      operators: ['group:platform'],
      ...settings,
    };
    writeFileSync(join(workspace, 'dashboard.yaml'), JSON.stringify(written));
  };
  const page = await openDashboard(prepare, {
    token: 'of-the-machine',
    team: (workspace) => ({ publicOrigin: origin, settings: settingsIn(workspace) }),
    log: { info: at('info'), warn: at('warn'), error: at('error') },
    ...(clock === undefined ? {} : { clock }),
  });
  port = page.dashboard.port;
  const { host } = new URL(origin);
  const proxy = own ?? (await startFrontProxy({ host, target }));
  const visit = () => new WebVisitor(origin, proxy);
  const signedIn = async (person: string) => {
    issuer.person = person;
    const visitor = visit();
    await visitor.signIn('/sign-in');
    return visitor;
  };
  const restart = async () => {
    await page.dashboard.close();
    const again = await page.serveAgain();
    return startFrontProxy({ host, target: () => `http://127.0.0.1:${again.port}` });
  };
  return { issuer, people, origin, page, proxy, log, agent, restart, visit, signedIn };
}

function settingsIn(workspace: string): DashboardSettings {
  const reading = readDashboard(workspace, {});
  if (reading === null || reading.settings === null) throw new Error(JSON.stringify(reading));
  return reading.settings;
}

function agentSettings({ issuer }: WebIssuer, rule: object) {
  const { security } = deferring(rule);
  const settings = { token: 'of-the-shop', identity: { user_id: 'shop' } };
  return {
    security: { defer: { ...security.defer, bind_approver: true } },
    auth: {
      dashboard_issuer: issuer,
      providers: [{ type: 'static_token', name: 'shop', settings }],
    },
  };
}
