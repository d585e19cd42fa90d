import type { AgentAnswers } from './agent-answers.ts';
import { wrongHost } from './wrong-host.ts';

/** A host that the value of a variable names, as the list of egress takes it. */
export interface VariableHost {
  host: string;
  /** The variable. */
  name: string;
}

/** Where a URL without a port leads. */
const usualPorts: Readonly<Record<string, string>> = {
  'https:': '443',
  'http:': '80',
  'smtps:': '465',
  'smtp:': '587',
};

/**
 * Lists the hosts that variables of skills, and those that were added, name by a URL. Addresses are left to whoever edits
 * `service.yaml`, where private ones are told from public ones.
 */
export function variableHosts({ skills, security }: AgentAnswers): VariableHost[] {
  const variables = Object.entries({ ...skills.variables, ...security.variables });
  return variables.flatMap(([name, value]) => {
    const host = hostOf(value.trim());
    return host === null || wrongHost(host) !== null ? [] : [{ host, name }];
  });
}

function hostOf(value: string): string | null {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? URL.parse(value) : null;
  if (url === null || url.hostname === '') return null;
  const port = url.port === '' ? usualPorts[url.protocol] : url.port;
  if (port === undefined) return null;
  const host = url.hostname.toLowerCase();
  return port === '443' ? host : `${host}:${port}`;
}
